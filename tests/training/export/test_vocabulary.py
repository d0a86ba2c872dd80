from itertools import product
from pathlib import Path

from index.encoder.word_list import WordList, read_word_list
from training.data.captions import Caption, CaptionedPictures
from training.export.vocabulary import MOST_WORDS, write_word_lists


def test_a_word_is_listed_from_the_third_time_on(tmp_path: Path) -> None:
    texts = [("en", "The dog, the dog!"), ("en", "A DOG runs"), ("de", "dog dog"), ("zh", "狗狗。狗和狗")]
    captions = tuple(Caption(0, language, text) for language, text in texts)
    write_word_lists(CaptionedPictures(("a.jpg",), captions), {}, ("en", "de", "zh"), tmp_path / "words")
    found = {file.stem: file.read_text("utf-8") for file in (tmp_path / "words").iterdir()}
    assert found["en"] == "dog\t3\n"
    assert found["de"] == ""
    assert set(found) == {"en", "de", "zh"}


def test_words_quoted_from_another_language_are_not_listed(tmp_path: Path) -> None:
    data = CaptionedPictures(("a.jpg",), (Caption(0, "en", "boy hotel " * 40), Caption(0, "de", "boy " * 3)))
    texts = {"de": ["junge hotel"] * 40}
    write_word_lists(data, texts, ("en", "de"), tmp_path / "both")
    assert (tmp_path / "both" / "de.tsv").read_text("utf-8") == "hotel\t40\njunge\t40\nboy\t3\n"
    write_word_lists(data, {"de": ["junge hotel"] * 100}, ("en", "de"), tmp_path / "more")
    assert (tmp_path / "more" / "de.tsv").read_text("utf-8") == "hotel\t100\njunge\t100\n"
    assert (tmp_path / "more" / "en.tsv").read_text("utf-8") == "boy\t40\nhotel\t40\n"


def test_a_list_ends_with_the_most_frequent_words(tmp_path: Path) -> None:
    told = " ".join(f"{''.join(word)} " * 3 for word in product("abcdefghijklmnopqrs", repeat=3))
    write_word_lists(
        CaptionedPictures(("a.jpg",), (Caption(0, "en", told),)), {}, ("en",), tmp_path / "words"
    )
    assert len((tmp_path / "words" / "en.tsv").read_text("utf-8").splitlines()) == MOST_WORDS


def test_translations_stand_beside_the_words_that_are_listed(tmp_path: Path) -> None:
    texts = {"de": ["hund hund hund katze katze katze maus"]}
    translations = {"de": {"hund": {"dog": 0.62, "hound": 0.114, "pet": 0.004}, "maus": {"mouse": 1.0}}}
    file = tmp_path / "words" / "de.tsv"
    write_word_lists(CaptionedPictures((), ()), texts, ("de",), file.parent, translations)
    assert file.read_text("utf-8") == "hund\t3\tdog=62 hound=11\nkatze\t3\n"
    read = WordList({"hund": 3, "katze": 3}, {"hund": {"dog": 0.62, "hound": 0.11}})
    assert read_word_list(file) == read


def test_what_a_concept_is_called_counts_once_whoever_drew_it(tmp_path: Path) -> None:
    artists = ("brush/1f436.png", "pencil/1f436.png", "stamp/1f436.png", "brush/1f43a.png")
    drawn = (*(f"pictograms/{name}" for name in artists), "photos/a.jpg", "photos/b.jpg")
    told = ("dog", "dog", "dog", "dog wolf", "dog wolf", "dog wolf")
    captions = tuple(Caption(row, "en", text) for row, text in enumerate(told))
    write_word_lists(CaptionedPictures(drawn, captions), {}, ("en",), tmp_path / "words")
    assert (tmp_path / "words" / "en.tsv").read_text("utf-8") == "dog\t4\nwolf\t3\n"
