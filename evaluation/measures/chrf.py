"""Sentence chrF (Popović 2015) of one reference against every sentence of a corpus at once.

The same score as sacrebleu's `sentence_chrf` (character n-grams up to 6, β = 2, no white space), computed
from an inverted index of n-grams.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NGRAM_ORDER = 6
BETA_SQUARED = 4.0

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class _Postings:
    """For each n-gram of one length in the references, the corpus sentences that contain it, and how often.

    Those of n-gram g are `sentences[start[g] : start[g + 1]]`.
    """

    start: Numbers
    sentences: NDArray[np.int32]
    counts: NDArray[np.int32]


class Overlap:
    """chrF between each of `references` and every sentence of a corpus."""

    def __init__(self, corpus: Sequence[str], references: Sequence[str]) -> None:
        self.size = len(corpus)
        characters, owner = _characters([*corpus, *references])
        self._totals: list[Numbers] = []  # n-grams a sentence, by order
        self._postings: list[_Postings] = []
        self._wanted: list[tuple[Numbers, Numbers, Numbers]] = []  # of the references: start, n-grams, counts
        grams, places = characters, np.arange(len(characters))
        for order in range(1, NGRAM_ORDER + 1):
            if order > 1:
                grams, places = _longer(grams, places, characters, owner, order)
            self._add(grams, owner[places], len(corpus), len(corpus) + len(references))

    def scores(self, reference: int) -> NDArray[np.float64]:
        """(corpus,) chrF of each sentence as an answer to reference number `reference`, 0 to 100."""
        precision, recall, orders = (np.zeros(self.size) for _ in range(3))
        for order in range(NGRAM_ORDER):
            grams, counts = self._of(reference, order)
            totals = self._totals[order]
            if (wanted := counts.sum()) == 0:
                continue
            matches = self._matches(order, grams, counts)
            precision += np.divide(matches, totals, out=np.zeros(self.size), where=totals > 0)
            recall += matches / wanted
            orders += totals > 0
        orders = np.maximum(orders, 1)
        precision, recall = precision / orders, recall / orders
        below = BETA_SQUARED * precision + recall
        above = 100 * (1 + BETA_SQUARED) * precision * recall
        return np.divide(above, below, out=np.zeros(self.size), where=below > 0)

    def _add(self, grams: Numbers, owner: Numbers, first: int, end: int) -> None:
        """Count the n-grams of one order; sentences from `first` on are references."""
        self._totals.append(np.bincount(owner, minlength=end)[:first])
        kept, places = np.unique(grams[owner >= first], return_inverse=True)
        wanted = (owner[owner >= first] - first) * len(kept) + places
        keys, counts = np.unique(wanted, return_counts=True)
        start = np.searchsorted(keys, np.arange(end - first + 1) * len(kept))
        self._wanted.append((start, keys % max(len(kept), 1), counts))
        in_corpus = (owner < first) & np.isin(grams, kept)
        keys_held = np.searchsorted(kept, grams[in_corpus]) * first + owner[in_corpus]
        keys, counts = np.unique(keys_held, return_counts=True)
        start = np.searchsorted(keys, np.arange(len(kept) + 1) * first)
        self._postings.append(
            _Postings(start, (keys % max(first, 1)).astype(np.int32), counts.astype(np.int32))
        )

    def _of(self, reference: int, order: int) -> tuple[Numbers, Numbers]:
        start, grams, counts = self._wanted[order]
        rows = slice(start[reference], start[reference + 1])
        return grams[rows], counts[rows]

    def _matches(self, order: int, grams: Numbers, counts: Numbers) -> NDArray[np.float64]:
        """(corpus,) n-grams in common with the reference, counted with the smaller of the two frequencies."""
        postings = self._postings[order]
        spans = [slice(postings.start[gram], postings.start[gram + 1]) for gram in grams]
        sentences = np.concatenate([postings.sentences[span] for span in spans])
        most = np.repeat(counts, [span.stop - span.start for span in spans])
        shared = np.minimum(np.concatenate([postings.counts[span] for span in spans]), most)
        return np.bincount(sentences, shared, minlength=self.size).astype(np.float64)


def _characters(texts: Sequence[str]) -> tuple[Numbers, Numbers]:
    """All characters except white space as numbers from 0 (c,), and the row of each one's text (c,)."""
    bare = ["".join(text.split()) for text in texts]
    points = np.frombuffer("".join(bare).encode("utf-32-le"), np.uint32)
    numbers: Numbers = np.unique(points, return_inverse=True)[1].astype(np.int64)
    return numbers, np.repeat(np.arange(len(bare)), [len(text) for text in bare])


def _longer(
    grams: Numbers, places: Numbers, characters: Numbers, owner: Numbers, order: int
) -> tuple[Numbers, Numbers]:
    """n-grams one character longer, renumbered, and their positions; those that cross texts are dropped."""
    end = places + order - 1
    inside = end < len(owner)
    inside[inside] = owner[end[inside]] == owner[places[inside]]
    pairs = grams[inside] * (characters.max(initial=0) + 1) + characters[end[inside]]
    return np.unique(pairs, return_inverse=True)[1].astype(np.int64), places[inside]
