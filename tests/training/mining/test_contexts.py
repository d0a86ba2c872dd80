"""Contexts: words that no picture shows find their translations by the words beside them."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from index.arrays import unit
from training.mining.contexts import Contexts, translations

WORDS, SHOWN, TOPICS, SENTENCES, DIMENSION = 200, 120, 20, 4000, 64


def corpus(draw: np.random.Generator) -> csr_array:
    """Sentences of six words of one topic each; every word has a topic of its own strength."""
    strengths = draw.gamma(0.1, size=(TOPICS, WORDS))
    chances = strengths / strengths.sum(axis=1, keepdims=True)
    matrix = np.zeros((SENTENCES, WORDS), np.float32)
    for row, topic in enumerate(draw.integers(TOPICS, size=SENTENCES)):
        matrix[row, draw.choice(WORDS, 6, p=chances[topic])] = 1
    return csr_array(matrix)


@pytest.fixture(scope="module")
def sides() -> tuple[Contexts, Contexts]:
    """Word i of both languages means the same; vectors agree on the first SHOWN words alone.

    The sentences are different ones of the same kind.
    """
    draw = np.random.default_rng(0)
    meanings = draw.standard_normal((WORDS, DIMENSION)).astype(np.float32)
    others = meanings.copy()
    others[SHOWN:] = draw.standard_normal((WORDS - SHOWN, DIMENSION))
    first, second = (corpus(np.random.default_rng([1])), corpus(np.random.default_rng([1])))
    rows = draw.permutation(SENTENCES)
    halves = rows[: SENTENCES // 2], rows[SENTENCES // 2 :]
    return Contexts.of(first[halves[0]], unit(others)), Contexts.of(second[halves[1]], unit(meanings))


def test_words_that_no_picture_shows_are_found_by_their_contexts(sides: tuple[Contexts, Contexts]) -> None:
    first, second = sides
    unseen = np.intersect1d(first.numbers[first.counts > 20], second.numbers[second.counts > 20])
    unseen = unseen[unseen >= SHOWN]
    assert len(unseen) > 20
    pairs, weights = translations(first, second)
    best = {
        int(word): int(pairs[pairs[:, 0] == word][weights[pairs[:, 0] == word].argmax(), 1])
        for word in unseen
    }
    assert np.mean([best[word] == word for word in unseen.tolist()]) > 0.5


def test_a_word_weighs_what_its_occurrences_do(sides: tuple[Contexts, Contexts]) -> None:
    first, second = sides
    pairs, weights = translations(first, second)
    sums = np.asarray([weights[pairs[:, 0] == number].sum() for number in first.numbers])
    assert np.allclose(sums**2 / first.counts, sums[0] ** 2 / first.counts[0], rtol=1e-3)


def test_a_context_does_not_count_the_word_itself(sides: tuple[Contexts, Contexts]) -> None:
    first, _ = sides
    alone = Contexts.of(
        csr_array(np.eye(4, dtype=np.float32).repeat(3, axis=0)), np.eye(4, 8, dtype=np.float32)
    )
    for words, has_contexts in ((alone, False), (first, True)):
        means = words.means(torch.from_numpy(words.vectors), torch.ones(len(words.numbers)))
        assert means.any() == has_contexts


def test_words_of_two_sentences_and_languages_without_any_are_left_out() -> None:
    twice = np.asarray([[1, 1, 1], [1, 1, 1], [1, 1, 0]], np.float32)
    few = Contexts.of(csr_array(twice), np.eye(3, 8, dtype=np.float32))
    assert few.numbers.tolist() == [0, 1]
    empty = Contexts.of(csr_array((0, 0), dtype=np.float32), np.empty((0, 8), np.float32))
    assert [len(part) for part in translations(few, few)] == [4, 4]
    assert [len(part) for part in translations(empty, few)] == [0, 0]
    assert [len(part) for part in translations(few, empty)] == [0, 0]
