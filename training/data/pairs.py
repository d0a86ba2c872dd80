"""Pairs of sentences as auxiliary inputs: those that are mined."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from index.arrays import Numbers, Vectors
from index.errors import DamagedError
from training.data.tokens import Padded, TokenIds, pad

TokenPair = tuple[TokenIds, TokenIds]
WEIGHT_SUFFIX = "weight"  # ends the names of weights in a file of pairs
LANGUAGE_EVENNESS = 0.75  # 0 draws all languages equally often, 1 all pairs
# Of weighted pairs, by text: an easy text must not crowd out one that is being learned.
WEIGHTED_EVENNESS = 0.5
PSEUDOPAIR_STREAM = 1  # keeps this draw apart from others of the same batch


class PairSupplier:
    """Draws a batch of pairs of sentences; `part` returns some of its rows, both sides as texts.

    The draw depends on the seed, the epoch and the batch's number, not on how the batch is cut.
    """

    def __init__(self) -> None:
        self._pairs: list[TokenPair] | None = None

    def begin(self, size: int, epoch: int, number: int) -> None:
        """Draw the `size` pairs of a batch."""
        self._pairs = self.draw(size, epoch, number)

    def part(
        self, captions: Numbers, rows: slice, draw: np.random.Generator, device: torch.device
    ) -> tuple[Padded, ...] | None:
        """Token ids and mask of both sentences of these rows; None if there are no pairs."""
        if self._pairs is None:
            return None
        first, second = zip(*self._pairs[rows], strict=True)
        return pad(first, device), pad(second, device)

    def draw(self, size: int, epoch: int, number: int) -> list[TokenPair] | None:
        """Draw `size` pairs with replacement; None if there are none."""
        raise NotImplementedError


class PseudopairSupplier(PairSupplier):
    """Supplies pairs that were mined.

    tokens: language -> the sentences that may be paired, as token ids. A batch mixes the pairs of all
    languages, so that a sentence has negatives in all of them. Two languages are drawn in proportion to the
    number of their pairs to the power of 3/4, which favours those with few. Where `weights` has the
    languages, it is a text of theirs that is drawn, in proportion to the square root of the sum of its pairs'
    weights, and of these pairs each in proportion to its weight. Pairs of words are drawn as if they were a
    text: a sentence beside its gloss, a drawn translation of each of its words, teaches as many at a time.
    rows: name of a text -> language -> its rows.
    """

    def __init__(
        self,
        tokens: Mapping[str, Sequence[TokenIds]],
        seed: int,
        rows: Mapping[str, Mapping[str, range]] | None = None,
    ) -> None:
        super().__init__()
        self.tokens = tokens
        self.seed = seed
        self.rows = rows or {}
        self._words: Mapping[str, Sequence[Numbers]] = {}
        self._sizes = {language: len(sentences) for language, sentences in tokens.items()}
        self.pairs: Mapping[tuple[str, str], Numbers] = {}
        self.weights: Mapping[tuple[str, str], Vectors] = {}
        self._groups: list[_Group] = []

    def pair(
        self,
        pairs: Mapping[tuple[str, str], Numbers],
        weights: Mapping[tuple[str, str], Vectors] | None = None,
    ) -> None:
        """Supply these pairs (m, 2) of each two languages, and no others; weights: (m,) of some."""
        self.pairs, self.weights = pairs, weights or {}
        self._groups = [group for key in sorted(pairs) for group in self._grouped(key)]

    def sentences(self, language: str) -> range:
        """The rows of a language's sentences; those of any words come after them."""
        return range(self._sizes[language])

    def add_words(
        self, words: Mapping[str, Sequence[TokenIds]], sentences: Mapping[str, Sequence[Numbers]]
    ) -> None:
        """Let words be paired, too: language -> token ids of each. They are added once.

        sentences: language -> the numbers of each sentence's words; what is no number of one is left out.
        """
        self._words = sentences
        self.tokens = {
            language: [*sentences[: self._sizes[language]], *words.get(language, ())]
            for language, sentences in self.tokens.items()
        }

    def draw(self, size: int, epoch: int, number: int) -> list[TokenPair] | None:
        groups = self._groups
        weights = np.asarray([group.weight for group in groups])
        if not weights.sum():
            return None
        draw = np.random.default_rng([self.seed, epoch, number, PSEUDOPAIR_STREAM])
        counts = draw.multinomial(size, weights / weights.sum())
        drawn = (self._drawn(groups[place], counts[place], draw) for place in np.flatnonzero(counts))
        return list(chain.from_iterable(drawn))

    def _drawn(self, group: "_Group", count: int, draw: np.random.Generator) -> list[TokenPair]:
        """Draw `count` pairs of a group."""
        first, second = (self.tokens[language] for language in group.languages)
        glossed = self._glossed(group, count, draw) if group.of_words else []
        places = group.places(count - len(glossed), draw)
        return [*glossed, *((first[i], second[j]) for i, j in group.pairs[places])]

    def _glossed(self, words: "_Group", count: int, draw: np.random.Generator) -> list[TokenPair]:
        """Draw `count` sentences beside their glosses; of those with a word that has a translation."""
        first, second = words.languages
        drawn = draw.integers(self._sizes[first], size=count)
        numbers = [self._words[first][sentence] for sentence in drawn]
        places, translations = words.gloss(self._sizes[first] + np.concatenate(numbers), draw)
        ends = np.searchsorted(places, np.cumsum(list(map(len, numbers)))[:-1])
        return [
            (self.tokens[first][sentence], np.concatenate([self.tokens[second][row] for row in gloss]))
            for sentence, gloss in zip(drawn, np.split(translations, ends), strict=True)
            if len(gloss)
        ]

    def _grouped(self, languages: tuple[str, str]) -> Iterator["_Group"]:
        """The pairs of two languages: of each text apart if they are weighted, otherwise all together."""
        pairs = self.pairs[languages]
        if languages not in self.weights:
            yield _Group(languages, pairs, len(pairs) ** LANGUAGE_EVENNESS)
            return
        stops = sorted(part[languages[0]].stop for part in self.rows.values() if languages[0] in part)
        texts = np.searchsorted(stops, pairs[:, 0], side="right")
        for text in np.unique(texts):
            of_text = np.flatnonzero(texts == text)
            of_text = of_text[np.argsort(pairs[of_text, 0], kind="stable")]
            sums = np.append(0, np.cumsum(self.weights[languages][of_text], dtype=np.float64))
            of_words = pairs[of_text[0], 0] >= self._sizes[languages[0]]
            weight = float(sums[-1]) ** WEIGHTED_EVENNESS
            # By columns: a search in one that is not contiguous copies it, for each sentence that is glossed.
            by_columns = np.asfortranarray(pairs[of_text])
            yield _Group(languages, by_columns, weight, sums, bool(of_words))

    def write(self, file: Path) -> None:
        """Write the pairs (m, 2) of each two languages, and any weights (m,), as safetensors."""
        part = file.with_suffix(".part")
        pairs = {" ".join(languages): rows for languages, rows in self.pairs.items()}
        save_file(pairs | {" ".join((*key, WEIGHT_SUFFIX)): w for key, w in self.weights.items()}, part)
        part.replace(file)


def read_pairs(file: Path) -> tuple[dict[tuple[str, str], Numbers], dict[tuple[str, str], Vectors]]:
    """The pairs (m, 2) of each two languages that `PseudopairSupplier.write` wrote, and any weights (m,).

    DamagedError if the file cannot be read.
    """
    try:
        tensors = load_file(file)
    except (OSError, SafetensorError) as error:
        raise DamagedError(f"{file} can't be read ({error}): train again into another folder") from None
    named = {tuple(key.split()): rows for key, rows in tensors.items()}
    pairs = {(key[0], key[1]): rows for key, rows in named.items() if len(key) == 2}
    return pairs, {(key[0], key[1]): rows for key, rows in named.items() if len(key) > 2}


@dataclass(frozen=True)
class _Group:
    """Pairs (m, 2) that are drawn alike. weight: how often they are.

    sums: (m + 1,) of their weights, cumulative from 0; the pairs are sorted then. of_words: whether they pair
    words.
    """

    languages: tuple[str, str]
    pairs: Numbers
    weight: float
    sums: NDArray[np.float64] | None = None
    of_words: bool = False

    def places(self, count: int, draw: np.random.Generator) -> Numbers:
        """Draw the places of `count` pairs among them, with replacement."""
        if self.sums is None:
            return draw.integers(len(self.pairs), size=count)
        return self._places(np.zeros(count, np.int64), np.full(count, len(self.pairs)), draw)

    def gloss(self, rows: Numbers, draw: np.random.Generator) -> tuple[Numbers, Numbers]:
        """Draw a second row for each of `rows` that has any; returns the places of these in `rows`, too."""
        starts, stops = (np.searchsorted(self.pairs[:, 0], rows, side=side) for side in ("left", "right"))
        is_paired = np.flatnonzero(starts < stops)
        translations: Numbers = self.pairs[self._places(starts[is_paired], stops[is_paired], draw), 1]
        return is_paired, translations

    def _places(self, starts: Numbers, stops: Numbers, draw: np.random.Generator) -> Numbers:
        """Draw a place from each `starts` up to `stops`, in proportion to the weights of the pairs there."""
        assert self.sums is not None, "pairs without weights are drawn alike"
        drawn = draw.uniform(self.sums[starts], self.sums[stops])
        places = np.searchsorted(self.sums, drawn, side="right") - 1
        return np.clip(places, starts, stops - 1)
