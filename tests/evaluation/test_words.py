from collections import Counter
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.suites import SUITES
from evaluation.words import BLOCK, FOUND, Sentences, Vocabulary, score_words, word_pairs, word_translation
from index.bundle import Bundle
from index.encoder import TextEncoder
from index.errors import DataError
from tests.bundles import lexicon, make_corpus, sentences
from tests.evaluation.test_measures import units

lines = st.lists(st.tuples(*2 * [st.lists(st.sampled_from("abcdefgh"), max_size=6)]), min_size=1, max_size=12)


def naive_best(one: Sentences, other: Sentences, top: int) -> set[tuple[str, str]]:
    """Equations 6 and 7 as they are written: a document for each word."""
    documents: dict[str, Counter[str]] = {}
    for a, b in zip(one, other, strict=True):
        for word in set(a):
            documents.setdefault(word, Counter()).update(b)
    documents = {word: document for word, document in documents.items() if document}
    frequency = Counter(word for line in other for word in set(line))
    found = set()
    for word, document in documents.items():
        values = {}
        for candidate, count in document.items():
            containing = sum(candidate in other_document for other_document in documents.values())
            values[candidate] = count / document.total() * log(len(documents) / containing)
        ordered = sorted(values, key=lambda c: (-round(values[c], 12), -frequency[c], c))
        found |= {(word, candidate) for candidate in ordered[:top] if values[candidate] > 0}
    return found


@given(lines, st.integers(1, 3))
def test_pairs_are_the_mutual_best_by_tf_idf(both: list[tuple[list[str], list[str]]], top: int) -> None:
    first, second = [a for a, _ in both], [b for _, b in both]
    forward = naive_best(first, second, top)
    backward = {(x, y) for y, x in naive_best(second, first, top)}
    assert set(word_pairs(first, second, top=top, least=1)) == forward & backward


@given(lines)
def test_pairs_are_the_same_from_the_other_side(both: list[tuple[list[str], list[str]]]) -> None:
    first, second = [a for a, _ in both], [b for _, b in both]
    there, back = word_pairs(first, second, least=1), word_pairs(second, first, least=1)
    assert set(there) == {(x, y) for y, x in back}


def test_translations_are_found_in_aligned_sentences() -> None:
    first, second = ([line.lower().strip(".").split() for line in sentences(code)] for code in ("en", "pt"))
    pairs = word_pairs(first, second, top=1)
    assert set(pairs) >= {(concept["en"], concept["pt"]) for concept in lexicon()}


def test_rare_words_are_left_out() -> None:
    first = [["dog", "runs"]] * 5 + [["cat", "runs"]] * 4 + [["man", "sits"]] * 5
    second = [["hund", "rennt"]] * 5 + [["katze", "rennt"]] * 4 + [["mann", "sitzt"]] * 5
    found = {word for pair in word_pairs(first, second, least=5) for word in pair}
    assert {"dog", "hund", "man", "mann"} <= found
    assert not {"cat", "katze"} & found
    assert ("cat", "katze") in word_pairs(first, second, least=4)


def test_no_sentences_no_pairs() -> None:
    assert word_pairs([[]], [["hund"]], least=1) == []
    assert word_pairs([["dog"]], [["hund"]], least=2) == []


def test_a_score_is_what_the_definition_gives() -> None:
    """CSLS over whole vocabularies, larger than a block; only the queries of the truth are asked."""
    one = Vocabulary([f"a{i}" for i in range(30)], units(30, 6, 0))
    other = Vocabulary([f"b{i}" for i in range(BLOCK + 7)], units(BLOCK + 7, 6, 1))
    pairs = [(f"a{i}", f"b{row}") for i in range(30) for row in (0, 3 * i, BLOCK + 2)]
    score, differing = score_words("x", "y", pairs, {"x": one, "y": other})
    cosine = one.vectors.astype(float) @ other.vectors.T.astype(float)
    near = np.sort(cosine, 1)[:, -10:].mean(1)[:, None] + np.sort(cosine, 0)[-10:].mean(0)[None]
    for key, values in (("cosine_r10", cosine), ("csls_r10", 2 * cosine - near)):
        hits = [(values[int(x[1:])] > values[int(x[1:]), int(y[1:])]).sum() < FOUND for x, y in pairs]
        assert score.measures[key] == pytest.approx(100 * np.mean(hits))
    assert score.n == 90
    assert differing == score


def test_words_spelt_alike_are_counted_apart() -> None:
    vocabulary = Vocabulary(["a", "b"], units(2, 6, 0))
    score, differing = score_words("x", "y", [("a", "a"), ("a", "b")], {"x": vocabulary, "y": vocabulary})
    assert (score.n, differing.n) == (2, 1)
    assert score_words("x", "y", [("a", "a")], {"x": vocabulary, "y": vocabulary})[1].n == 0
    assert score_words("x", "y", [], {"x": vocabulary, "y": vocabulary})[0].n == 0


def test_the_suite_on_a_bundle_that_shares_a_space(bundle: Bundle, tmp_path: Path) -> None:
    make_corpus(tmp_path, count=1440)
    every, differing = word_translation(TextEncoder(bundle), tmp_path, ["en", "de", "pt"], ["de", "en"])
    assert every.languages == differing.languages == ("de", "en", "pt")
    assert set(every.means) == {"all", "de,en"}
    scores = {(pair.source, pair.target): pair for pair in every.pairs}
    assert scores["en", "pt"].n == scores["pt", "en"].n >= 25
    alike = {
        f"{pair.source}-{pair.target}": scores[pair.source, pair.target].n - pair.n
        for pair in differing.pairs
    }
    assert alike == {"de-en": 1, "en-de": 1, "de-pt": 0, "pt-de": 0, "en-pt": 0, "pt-en": 0}  # "park"
    assert 50 < every.means["all"]["csls_r10"] <= 100


def test_the_suite_needs_words_that_recur(bundle: Bundle, tmp_path: Path) -> None:
    for language in ("en", "de"):
        (tmp_path / f"{language}.txt").write_text("ein hund\nzwei katzen\n", "utf-8")
    with pytest.raises(DataError, match="no word occurs often enough"):
        SUITES["words"](TextEncoder(bundle), tmp_path, ["en", "de"], [])
