"""What a run has found that words mean, as its bundle has it."""

from pathlib import Path

import numpy as np
import pytest

from index.text.normalisation import words
from tests.training.tiny import BAG, recipe
from training.data.pairs import PseudopairSupplier
from training.export.word_lists import word_translations
from training.loop.prepare import training_captions
from training.loop.run import Run, create_run
from training.mining.words import frequent

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
