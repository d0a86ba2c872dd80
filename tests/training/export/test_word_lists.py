from itertools import product
from pathlib import Path

import numpy as np
import pytest

from index.encoder.bundle import words_file
from index.encoder.word_list import WordList, read_word_list
from index.text.normalisation import words
from tests.training.tiny import BAG, recipe
from training.data.captions import Caption, CaptionedPictures
from training.data.pairs import PseudopairSupplier
from training.export.word_lists import MOST_WORDS, word_translations, write_word_lists
from training.loop.prepare import training_captions
from training.loop.run import Run, create_run
from training.mining.words import frequent


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


PAIR = ("de", "en")
MINING = ("begin=1", "every=1", "probability=0.3", 'pivots=["en"]', "words=1")
OVERRIDES = ("objectives.pseudopairs.weight=1", *(f"mining.{value}" for value in MINING))


def spelled(run: Run, data: Path, language: str) -> list[list[str]]:
    """The words of each caption of a language."""
    captions = training_captions(run, data).captions
    return [words(caption.text, language) for caption in captions if caption.language == language]


def mined(folder: Path, data: Path, found: dict[tuple[str, str], float], *overrides: str) -> Run:
    """A run whose last round found these German words to mean these English ones, with these weights."""
    folder.mkdir(exist_ok=True)
    run = create_run(folder / "run", recipe(BAG, folder, *OVERRIDES, *overrides), resume=False)
    lines = [spelled(run, data, code) for code in PAIR]
    listed = [list(frequent(of)) for of in lines]
    counts = list(map(len, lines))
    sentences = [0, 0]  # a pair that says nothing of words
    of_words = [[counts[side] + listed[side].index(pair[side]) for side in (0, 1)] for pair in found]
    pairs = PseudopairSupplier({}, 0)
    pairs.pairs = {PAIR: np.array([sentences, *of_words])}
    pairs.weights = {PAIR: np.array([0.9, *found.values()], np.float32)}
    pairs.write(run.pseudopairs_file(3))
    return run


def test_a_word_has_its_likeliest_translations_in_shares(tmp_path: Path, data: Path) -> None:
    found = {("baum", "tree"): 0.4, ("baum", "green"): 0.2, ("baum", "blue"): 0.1, ("baum", "red"): 0.05}
    translations = word_translations(mined(tmp_path, data, found), data, ("de", "en", "pt"))
    assert translations.keys() == {"de"}
    assert translations["de"] == {"baum": pytest.approx({"tree": 4 / 7, "green": 2 / 7, "blue": 1 / 7})}


def test_a_rare_form_means_less_of_what_a_frequent_one_means(tmp_path: Path, data: Path) -> None:
    run = mined(tmp_path, data, {("eine", "a"): 0.6, ("einer", "a"): 0.6})
    counts = frequent(spelled(run, data, "de"))
    share = counts["einer"] / counts["eine"]
    assert share < 0.8
    found = word_translations(run, data, ("de",))["de"]
    assert found == {"eine": {"a": 1}, "einer": {"a": pytest.approx(share**0.5)}}


def test_a_run_without_words_has_those_of_the_run_that_it_goes_on_from(tmp_path: Path, data: Path) -> None:
    first = mined(tmp_path / "first", data, {("baum", "tree"): 0.4})
    first.finish({})
    start = f"text.start={first.folder}"
    second = mined(tmp_path / "second", data, {("baum", "green"): 0.4}, start, "mining.words=9")
    assert word_translations(second, data, ("de",)) == {"de": {"baum": {"tree": 1}}}
    third = mined(tmp_path / "third", data, {("baum", "green"): 0.4}, start)
    assert word_translations(third, data, ("de",)) == {"de": {"baum": {"green": 1}}}
