"""Words that translate each other, learned from sentences that may."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from training.mining.rounds import Words
from training.mining.words import (
    FOLDS,
    MOST_IN_SENTENCE,
    Bags,
    Vocabulary,
    WordTranslations,
    align,
    stem,
    word_vectors,
)

WORDS, LENGTH = 60, 6
Numbers = NDArray[np.int64]
RARITY = np.linspace(1, 5, WORDS)  # words are numbered by frequency


def bags(rows: list[Numbers], rarity: NDArray[np.float64]) -> Bags:
    return Vocabulary([f"word {number}" for number in range(len(rarity))], [], rarity).bags(rows)


def sentences(count: int, seed: int) -> list[Numbers]:
    draw = np.random.default_rng(seed)
    return [draw.choice(WORDS, LENGTH, replace=False) for _ in range(count)]


def translated(rows: list[Numbers]) -> list[Numbers]:
    """In the other language, a word has the number counted from the end, and stands elsewhere."""
    return [WORDS - 1 - row[::-1] for row in rows]


def diagonal(count: int) -> Numbers:
    return np.stack([np.arange(count), np.arange(count)], axis=1)


@pytest.mark.parametrize("wrong", [0, 1, 3])
def test_translations_are_found_among_wrong_pairs(wrong: int) -> None:
    """For each right pair there are `wrong` of chance."""
    ours = sentences(600, 0)
    first, second = bags(ours, RARITY), bags(translated(ours), RARITY)
    chance = [
        np.stack([np.arange(600), np.random.default_rng(i).permutation(600)], axis=1) for i in range(wrong)
    ]
    pairs = np.concatenate([diagonal(600), *chance])
    found = align(first.matrix, second.matrix, pairs, np.ones(len(pairs)))
    probable = found.table(found.forward).toarray()
    assert (probable.argmax(axis=1) + np.arange(WORDS) == WORDS - 1).mean() > 0.95
    assert probable.max(axis=1).min() >= 0.1
    assert probable.max() <= 1


def test_nothing_is_aligned_without_pairs() -> None:
    ours = bags(sentences(3, 0), RARITY).matrix
    words = align(ours, ours, np.empty((0, 2), np.int64), np.empty(0))
    assert len(words.counts) == 0
    assert words.table(words.forward).nnz == 0


@pytest.fixture(scope="module")
def learned() -> WordTranslations:
    ours = sentences(600, 0)
    known = WordTranslations(bags(ours, RARITY), bags(translated(ours), RARITY), np.arange(600) % FOLDS)
    known.learn(diagonal(600), np.ones(600))
    return known


def test_translations_cover_each_other(learned: WordTranslations) -> None:
    own = np.arange(600)
    for covered, others in zip(
        learned.coverage(own, own), learned.coverage(own, np.roll(own, 7)), strict=True
    ):
        assert covered.shape == others.shape == (600,)
        assert covered.min() > 0.7
        assert others.mean() < 0.4


def test_translated_sentences_are_found_by_their_words(learned: WordTranslations) -> None:
    scores = learned.vectors(3) @ word_vectors(learned.second, 3).T
    assert (scores.argmax(axis=1) == np.arange(600)).mean() > 0.95


def test_a_pair_does_not_speak_for_itself() -> None:
    """What a wrong pair alone says of two rare words does not count when it is judged."""
    ours = sentences(400, 0)
    theirs = translated(ours)
    rare = np.append(RARITY, [6.0, 6.0])
    ours[0], theirs[0] = np.asarray([WORDS, WORDS + 1]), np.asarray([WORDS, WORDS + 1])
    known = WordTranslations(bags(ours, rare), bags(theirs, rare), np.arange(400) % FOLDS)
    known.learn(np.concatenate([diagonal(400), np.repeat([[0, 0]], 5, axis=0)]), np.ones(405))
    own, other = (
        known.coverage(np.asarray([0]), np.asarray([0])),
        known.coverage(np.asarray([2]), np.asarray([2])),
    )
    assert own[0][0] == own[1][0] == 0
    assert other[0][0] > 0.7


@given(st.lists(st.lists(st.integers(0, WORDS), max_size=20), max_size=8))
def test_a_bag_has_the_rarest_known_words_once(rows: list[list[int]]) -> None:
    made = bags([np.asarray(row, np.int64) for row in rows], RARITY)
    assert made.size == WORDS
    assert made.matrix.shape == (len(rows), WORDS)
    for row, words, present in zip(rows, made.words, made.matrix.toarray(), strict=True):
        expected = sorted({word for word in row if word < WORDS})[-MOST_IN_SENTENCE:]
        assert sorted(word for word in words.tolist() if word < WORDS) == expected
        assert np.flatnonzero(present).tolist() == expected


def test_a_vocabulary_has_the_words_that_come_twice() -> None:
    listed = Vocabulary.of([["a", "dog", "and", "a", "cat"], ["a", "dog"], []])
    assert listed.names == ["a", "dog"]
    assert [row.tolist() for row in listed.rows] == [[0, 1, 2, 0, 2], [0, 1], []]
    assert listed.rarity == pytest.approx([0, np.log(3 / 2)])
    assert listed.bags(listed.rows).matrix.toarray().tolist() == [[1, 1], [1, 1], [0, 0]]
    assert Vocabulary.of([["once"]]).bags([]).size == 0


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("tr", "evlerimizde", "evler"),
        ("ko", "학교에서", "학교"),
        ("en", "cat", "cat"),
        ("sr", "џепови", "džepova"),
    ],
)
def test_forms_of_a_word_have_one_stem(language: str, one: str, other: str) -> None:
    assert stem(one, language) == stem(other, language)


def test_the_alphabets_of_serbian_are_one_in_stems_alone() -> None:
    words = Words.of("sr", ["Лепа кућа је ту", "lepa kuća je tu", "лепа кућа", "lepa kuća"])
    assert set(words.words.names) >= {"кућа", "kuća"}
    assert words.stems.names == ["lepa", "kuća", "je", "tu"]
    assert [words.stems.names[row] for row in words.stem_of] == [stem(w, "sr") for w in words.words.names]
