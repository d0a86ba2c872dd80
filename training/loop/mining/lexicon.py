"""The words of a language, from sentences as token ids: whole words, and their stems."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from index.languages import is_unspaced

Numbers = NDArray[np.int64]
Tokens = NDArray[np.int32]

WORD_START = "▁"
LEAST_OCCURRENCES, MOST_WORDS = 3, 9000  # of a language's vocabulary
LEAST_STEMS, MOST_STEMS = 2, 9000
STEM_LETTERS = 5  # a word's first letters: enough to align inflected forms (Fraser and Marcu 2005 take four)
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def spellings(tokenizer: Tokenizer) -> list[str]:
    """How each token is spelled; "" for those that stand for no text of their own."""
    special = tokenizer.get_added_tokens_decoder()
    return [
        "" if number in special else tokenizer.id_to_token(number) or ""
        for number in range(tokenizer.get_vocab_size())
    ]


def word_starts(tokenizer: Tokenizer) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether each subword starts a word, and whether the word ends with it (vocabulary,).

    A subword without letters is a word, as is one in a script without spaces, and every one of a vocabulary
    of whole words.
    """
    pieces = spellings(tokenizer)
    bare = [piece.removeprefix(WORD_START) for piece in pieces]
    alone = [
        not any(unicodedata.category(character)[0] in "LM" for character in text) or is_unspaced(text[0])
        for text in bare
    ]
    starts = [is_alone or piece.startswith(WORD_START) for piece, is_alone in zip(pieces, alone, strict=True)]
    # The mark of a word's start is a subword by itself before some words.
    ends = [is_alone and piece != WORD_START for piece, is_alone in zip(pieces, alone, strict=True)]
    by_words = not any(piece.startswith(WORD_START) for piece in pieces)
    return np.asarray(starts) | by_words, np.asarray(ends)


@dataclass(frozen=True)
class Lexicon:
    """The words of a language.

    rows: for each sentence, the number of the word that each of its tokens is part of; words outside the
    vocabulary have the last number. tokens: of each word. rarity: (words,) log of sentences per occurrence.
    """

    rows: Sequence[Numbers]
    tokens: list[Tokens]
    rarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.tokens)

    def sequences(self) -> list[Tokens]:
        """Each sentence as numbers of words."""
        lengths = np.append([len(tokens) for tokens in self.tokens], 1)
        return [_words_of(row, lengths) for row in self.rows]


def _words_of(row: Numbers, lengths: Numbers) -> Tokens:
    """The words of a sentence, given the word of each token: words of several tokens once each."""
    words, place = [], 0
    while place < len(row):
        words.append(row[place])
        place += int(lengths[row[place]])
    return np.asarray(words, np.int32)


def lexicon(sentences: Sequence[Tokens], starts: NDArray[np.bool_], ends: NDArray[np.bool_]) -> Lexicon:
    """List the words of sentences, given as token ids, most frequent first; see `word_starts`."""
    found = _Words.of(sentences, starts, ends)
    counts = np.bincount(found.kinds, minlength=len(found.firsts))
    numbers, order = _numbered(counts, LEAST_OCCURRENCES, MOST_WORDS)
    words = [found.tokens(int(i)) for i in found.firsts[order]]
    return Lexicon(found.rows(numbers[found.kinds]), words, _rarity(counts[order], len(sentences)))


@dataclass(frozen=True)
class Stems:
    """The stems of a language's words: their first STEM_LETTERS letters, whatever the inflection.

    rows: for each sentence, the number of the stem of each of its tokens' words; rare stems and words without
    letters have the last number. rarity: (stems,) as a Lexicon's. tokens: of each word that has a stem and
    occurs LEAST_STEMS times. of_words: the stem of each.
    """

    rows: Sequence[Numbers]
    rarity: NDArray[np.float64]
    tokens: list[Tokens]
    of_words: Numbers


def stems(
    sentences: Sequence[Tokens], starts: NDArray[np.bool_], ends: NDArray[np.bool_], spelled: Sequence[str]
) -> Stems:
    """List the stems of sentences, given as token ids; see `word_starts` and `spellings`."""
    found = _Words.of(sentences, starts, ends)
    words = ("".join(spelled[token] for token in found.tokens(int(i))) for i in found.firsts)
    names = [word.removeprefix(WORD_START)[:STEM_LETTERS] for word in words]
    places = {name: number for number, name in enumerate(dict.fromkeys(names))}
    stem_of = np.asarray([places[name] for name in names], np.int64)
    is_word = np.asarray([any(map(str.isalnum, name)) for name in names], bool)
    kinds = stem_of[found.kinds]
    counts = np.bincount(kinds[is_word[found.kinds]], minlength=len(places))
    numbers, order = _numbered(counts, LEAST_STEMS, MOST_STEMS)
    occurrences = np.bincount(found.kinds, minlength=len(found.firsts))
    listed = np.flatnonzero((occurrences >= LEAST_STEMS) & (numbers[stem_of] < len(order)))
    return Stems(
        rows=found.rows(numbers[kinds]),
        rarity=_rarity(counts[order], len(sentences)),
        tokens=[found.tokens(int(i)) for i in found.firsts[listed]],
        of_words=numbers[stem_of[listed]],
    )


@dataclass(frozen=True)
class _Words:
    """Where the words of sentences begin among all tokens, how long they are, and which are the same.

    kinds: of each word. firsts: of each kind the word where it occurs first.
    """

    flat: Tokens
    borders: Numbers  # of sentences
    begins: Numbers
    lengths: Numbers
    kinds: Numbers
    firsts: Numbers

    @classmethod
    def of(cls, sentences: Sequence[Tokens], starts: NDArray[np.bool_], ends: NDArray[np.bool_]) -> "_Words":
        flat = np.concatenate([*sentences, np.empty(0, np.int32)])
        borders = np.cumsum([0, *map(len, sentences)])
        is_start = starts[flat]
        is_start[1:] |= ends[flat[:-1]]
        is_start[borders[borders < len(flat)]] = True
        begins = np.flatnonzero(is_start)
        lengths = np.diff(np.append(begins, len(flat)))
        places = np.arange(len(flat)) - np.repeat(begins, lengths)
        hashes = np.add.reduceat(_mixed(flat, places), begins) if len(begins) else np.empty(0, np.uint64)
        _, firsts, kinds = np.unique(hashes, return_index=True, return_inverse=True)
        return cls(flat, borders, begins, lengths, kinds, firsts)

    def tokens(self, word: int) -> Tokens:
        """The tokens of a word."""
        return self.flat[self.begins[word] : self.begins[word] + self.lengths[word]]

    def rows(self, numbers: Numbers) -> Sequence[Numbers]:
        """For each sentence, the number of the word that each token is part of, given those of the words."""
        of_tokens = np.repeat(numbers, self.lengths)
        return [of_tokens[start:end] for start, end in pairwise(self.borders)]


def _numbered(counts: Numbers, least: int, most: int) -> tuple[Numbers, Numbers]:
    """The number of each kind, by frequency, and the kinds in this order; rarer ones have the last number."""
    order = np.argsort(-counts, kind="stable")[:most]
    order = order[counts[order] >= least]
    numbers = np.full(len(counts), len(order))
    numbers[order] = np.arange(len(order))
    return numbers, order


def _rarity(counts: Numbers, sentences: int) -> NDArray[np.float64]:
    rarity: NDArray[np.float64] = np.log(np.maximum(1, sentences / counts))
    return rarity


def _mixed(tokens: Tokens, places: Numbers) -> NDArray[np.uint64]:
    """A hash of each token and its place in the word."""
    values = (tokens.astype(np.uint64) + np.uint64(1)) * HASH_FACTOR + places.astype(np.uint64)
    values ^= values >> np.uint64(29)
    return values * HASH_FACTOR
