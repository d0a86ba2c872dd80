"""Phrases: words that are together far more often than chance, counted; and which words an index has."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from index.answers.translator import Translator
from index.build import lexicon
from index.build.build_index import build_index
from index.build.encoding import Pool
from index.build.job import Job
from index.build.lexicon import count_language, detector_of
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.storage.options import Options
from index.storage.tables import SENTENCE_COLUMNS, strings, write_table
from index.text.normalisation import words
from index.words.phrases import LEAST_COUNT, count_pairs, find_phrases
from tests.bundles import make_corpus


def corpus() -> list[list[str]]:
    """400 sentences of random words, of which 30 have "ice cream"."""
    random = np.random.default_rng(0)
    found = [[f"w{number}" for number in random.integers(50, size=8)] for _ in range(400)]
    return [[*words, "ice", "cream"] if row < 30 else words for row, words in enumerate(found)]


def test_words_that_belong_together_are_found() -> None:
    texts = [" ".join(words) for words in corpus()]
    assert find_phrases(*count_pairs([texts], "en")) == {"ice cream": 30}


def test_pairs_are_neighbours_in_order() -> None:
    texts = ["a b b c", "a-b", *["b a"] * (LEAST_COUNT - 2), "a b"]
    pairs, counts = count_pairs([texts], "en")
    assert pairs == Counter()
    assert counts == Counter({"a": LEAST_COUNT + 1, "b": LEAST_COUNT + 2, "c": 1})


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_pairs_are_counted_as_one_by_one(batch: int) -> None:
    random = np.random.default_rng(1)
    texts = [
        " ".join(random.choice(["The", "ice-cream,", "dog's", "A", "it", "–"], size=6)) for _ in range(90)
    ]
    divided = [words(text, "en") for text in texts]
    wanted = Counter(pair for found in divided for pair in pairwise(found) if pair[0] != pair[1])
    batches = [strings(texts[start : start + batch]) for start in range(0, len(texts), batch)]
    pairs, counts = count_pairs(batches, "en")
    assert pairs == {pair: count for pair, count in wanted.items() if count >= LEAST_COUNT}
    assert counts == Counter(word for found in divided for word in found)


def test_rare_pairs_are_no_phrases() -> None:
    assert (
        find_phrases({("a", "b"): LEAST_COUNT - 1}, {"a": LEAST_COUNT - 1, "b": LEAST_COUNT - 1, "c": 10**6})
        == {}
    )
    assert find_phrases({("a", "b"): LEAST_COUNT}, {"a": LEAST_COUNT, "b": LEAST_COUNT, "c": 10**6}) == {
        "a b": LEAST_COUNT
    }


def test_an_index_answers_phrases_and_leaves_rare_words_out(bundle: Bundle, tmp_path: Path) -> None:
    files = make_corpus(tmp_path / "c", ("de", "en"), 120)
    cleared = [f"A small dog sleeps. Number{row} of the fire hydrant is {row}." for row in range(30)]
    with files["en"].open("a", encoding="utf-8") as file:
        file.write("\n".join([*cleared, *(f"Row {row} {row + 7}" for row in range(900))]) + "\n")
    plain = build_index(bundle, files, tmp_path / "plain", options=Options(phrases=False))
    manifest = build_index(bundle, files, tmp_path / "index", options=Options(least_count=2))
    translator = Translator.open(tmp_path / "index")
    words = dict(translator.vocabulary("en"))
    assert words["fire hydrant"] == 30
    assert manifest.languages["en"].phrases == sum(" " in word for word in words) > 0
    assert manifest.languages["en"].words == len(words) < plain.languages["en"].words
    assert plain.languages["en"].phrases == 0
    assert min(words.values()) >= 2
    assert "number3" not in words
    (known,), (unknown,) = translator.words(["Fire  hydrant", "number3"], "en", "de")
    assert known.in_vocabulary is True
    assert unknown.in_vocabulary is False


def test_phrases_are_of_the_first_sentences_and_words_of_all(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = [f"the ice cream {number}" for number in range(30)] + ["the dog runs"] * 9
    write_table(tmp_path / "en.arrow", dict.fromkeys(SENTENCE_COLUMNS, sentences))
    encoder = TextEncoder(bundle)
    job = Job(tmp_path, tmp_path, bundle, encoder)
    monkeypatch.setattr(lexicon, "PHRASE_SENTENCES", 30)
    counts = {"the": 39, "ice": 30, "cream": 30, "dog": 9, "runs": 9} | {str(n): 1 for n in range(30)}
    with Pool(job, detector_of(encoder, {})) as pool:
        assert count_language(job, "en", pool, True) == (counts, {})
        assert count_language(job, "en", pool, False) == (counts, {})
