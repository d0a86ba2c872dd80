"""Glosses: what sentences of an index say in another language, for who cannot read theirs."""

from collections.abc import Sequence

from index.answers.sentence_index import SentenceIndex


class Glosses:
    """The sentences of `index` in the language `source`; each is looked up once.

    Without `source`, or where it is the index itself, nothing is said.
    """

    def __init__(self, index: SentenceIndex, source: SentenceIndex | None) -> None:
        self._index, self._source = index, None if source is index else source
        self._nearest = dict[int, str]()

    def nearest(self, rows: Sequence[int]) -> list[str]:
        """The nearest sentence of each of some rows, found in one search; [] if nothing can be said."""
        if self._source is None:
            return []
        if missing := [row for row in rows if row not in self._nearest]:
            _, found = self._source.vectors.search(self._index.vectors.reconstruct(missing), 1)
            self._nearest |= dict(zip(missing, map(self._source.text, found[:, 0].tolist()), strict=True))
        return [self._nearest[row] for row in rows]
