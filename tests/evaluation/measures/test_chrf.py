"""Held to sacrebleu, whose score it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from evaluation.measures.chrf import Overlap

# Few letters, so that n-grams recur; spaces of several kinds; characters beyond 16 bits.
sentences = st.text("ab 狗\t\N{DOG FACE}é", max_size=14)


@given(st.lists(sentences, min_size=1, max_size=6), st.lists(sentences, min_size=1, max_size=4))
def test_scores_are_those_of_sacrebleu(corpus: list[str], references: list[str]) -> None:
    overlap, metric = Overlap(corpus, references), CHRF()
    for row, reference in enumerate(references):
        expected = [metric.sentence_score(sentence, [reference]).score for sentence in corpus]
        assert list(overlap.scores(row)) == pytest.approx(expected)


def test_a_sentence_is_its_own_best_answer() -> None:
    corpus = ["ein hund rennt", "eine katze schläft", "zwei hunde rennen"]
    overlap = Overlap(corpus, corpus)
    assert [int(overlap.scores(row).argmax()) for row in range(3)] == [0, 1, 2]
    assert overlap.scores(1).max() == pytest.approx(100)
    assert overlap.scores(1).min() < 50
