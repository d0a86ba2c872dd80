from itertools import product
from pathlib import Path

from index.encoder.bundle import words_file
from index.encoder.word_list import WordList, read_word_list
from training.data.captions import Caption, CaptionedPictures
from training.export.word_lists import MOST_WORDS, write_word_lists


def test_a_word_is_listed_from_the_third_time_on(tmp_path: Path) -> None:
    texts = [("en", "The dog, the dog!"), ("en", "A DOG runs"), ("de", "dog dog"), ("zh", "狗狗。狗和狗")]
    captions = tuple(Caption(0, language, text) for language, text in texts)
    write_word_lists(CaptionedPictures(("a.jpg",), captions), {}, ("en", "de", "zh"), tmp_path, {})
    assert listed(tmp_path, "en").counts == {"dog": 3}
    assert listed(tmp_path, "de").counts == {}
    assert {file.name for file in (tmp_path / "words").iterdir()} == {"en.tsv.gz", "de.tsv.gz", "zh.tsv.gz"}


def test_words_quoted_from_another_language_are_not_listed(tmp_path: Path) -> None:
    data = CaptionedPictures(("a.jpg",), (Caption(0, "en", "boy hotel " * 40), Caption(0, "de", "boy " * 3)))
    few, many = tmp_path / "few", tmp_path / "many"
    for folder, count in ((few, 40), (many, 100)):
        folder.mkdir()
        write_word_lists(data, {"de": ["junge hotel"] * count}, ("en", "de"), folder, {})
    assert list(listed(few, "de").counts.items()) == [("hotel", 40), ("junge", 40), ("boy", 3)]
    assert list(listed(many, "de").counts.items()) == [("hotel", 100), ("junge", 100)]
    assert list(listed(many, "en").counts.items()) == [("boy", 40), ("hotel", 40)]


def test_a_list_ends_with_the_most_frequent_words(tmp_path: Path) -> None:
    told = " ".join(f"{''.join(word)} " * 3 for word in product("abcdefghijklmnopqrs", repeat=3))
    write_word_lists(CaptionedPictures(("a.jpg",), (Caption(0, "en", told),)), {}, ("en",), tmp_path, {})
    assert len(listed(tmp_path, "en").counts) == MOST_WORDS


def test_translations_stand_beside_the_words_that_are_listed(tmp_path: Path) -> None:
    texts = {"de": ["hund hund hund katze katze katze maus"]}
    translations = {"de": {"hund": {"dog": 0.62, "hound": 0.114, "pet": 0.044}, "maus": {"mouse": 1.0}}}
    write_word_lists(CaptionedPictures((), ()), texts, ("de",), tmp_path, translations)
    assert listed(tmp_path, "de") == WordList({"hund": 3, "katze": 3}, {"hund": {"dog": 0.62, "hound": 0.11}})


def test_what_a_concept_is_called_counts_once_whoever_drew_it(tmp_path: Path) -> None:
    artists = ("brush/1f436.png", "pencil/1f436.png", "stamp/1f436.png", "brush/1f43a.png")
    drawn = (*(f"pictograms/{name}" for name in artists), "photos/a.jpg", "photos/b.jpg")
    told = ("dog", "dog", "dog", "dog wolf", "dog wolf", "dog wolf")
    captions = tuple(Caption(row, "en", text) for row, text in enumerate(told))
    write_word_lists(CaptionedPictures(drawn, captions), {}, ("en",), tmp_path, {})
    assert listed(tmp_path, "en").counts == {"dog": 4, "wolf": 3}


def listed(bundle: Path, language: str) -> WordList:
    return read_word_list(bundle / words_file(language))
