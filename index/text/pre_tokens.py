"""Pre-tokens: the pieces of texts between spaces, numbered so that each distinct one is processed once.

A corpus has millions of words, but only some ten thousand distinct pre-tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.arrays import Numbers

TOKENS_AT_ONCE = 1 << 16  # whose rows are gathered at a time

StringArray = Any  # pyarrow.StringArray: pyarrow is untyped


@dataclass(frozen=True)
class Tokens:
    """The tokens of n texts: `ids` (total,), text by text, and the `lengths` (n,) of the texts."""

    ids: Numbers
    lengths: Numbers

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> "Tokens":
        """Make Tokens from a list of ids for each text."""
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        return cls(np.fromiter(chain.from_iterable(lists), np.int64, int(lengths.sum())), lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def texts(self) -> Numbers:
        """(total,) the number of each token's text."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, rows: Numbers) -> "Tokens":
        """The tokens of the texts `rows`, in that order."""
        lengths = self.lengths[rows]
        starts = (np.cumsum(self.lengths) - self.lengths)[rows]
        return Tokens(self.ids[slices(starts, lengths)], lengths)

    def expand(self, rows: "Tokens") -> "Tokens":
        """Concatenate texts: text i of the result consists of the texts that text i of `rows` lists."""
        lengths = np.bincount(rows.texts, self.lengths[rows.ids], len(rows)).astype(np.int64)
        return Tokens(self.take(rows.ids).ids, lengths)

    def sums(self, rows: NDArray[np.floating]) -> NDArray[np.float32]:
        """(n, d) the sums of the `rows` (vocabulary, d) of each text's tokens, in float32."""
        sums = np.zeros((len(self), rows.shape[1]), np.float32)
        filled = np.flatnonzero(self.lengths)
        ends = np.cumsum(self.lengths[filled])
        begin = 0
        while begin < len(filled):
            first = int(ends[begin] - self.lengths[filled[begin]])
            end = max(begin + 1, int(np.searchsorted(ends, first + TOKENS_AT_ONCE)))
            block = rows[self.ids[first : int(ends[end - 1])]].astype(np.float32, copy=False)
            starts = ends[begin:end] - self.lengths[filled[begin:end]] - first
            sums[filled[begin:end]] = np.add.reduceat(block, starts, axis=0)
            begin = end
        return sums

    def without(self, left_out: Numbers) -> "Tokens":
        """The same texts without some ids."""
        if not len(left_out):
            return self
        kept = np.isin(self.ids, left_out, invert=True)
        return Tokens(self.ids[kept], np.bincount(self.texts[kept], minlength=len(self)))

    def followed(self, others: "Tokens") -> "Tokens":
        """These texts, followed by others."""
        return Tokens(np.concatenate([self.ids, others.ids]), np.concatenate([self.lengths, others.lengths]))


def slices(starts: Numbers, lengths: Numbers) -> Numbers:
    """Concatenate the ranges from starts[i] up to starts[i] + lengths[i]."""
    shifts = starts - (np.cumsum(lengths) - lengths)
    return np.repeat(shifts, lengths) + np.arange(int(lengths.sum()))


class Numbering(dict[str, int]):
    """Numbers strings in the order in which they are first looked up."""

    def __missing__(self, string: str) -> int:
        number = self[string] = len(self)
        return number

    def of_pre_tokens(self, texts: Sequence[str] | StringArray) -> Tokens:
        """The numbers of the pre-tokens of each text; between two spaces there is an empty one."""
        # Imported here: the service does not need this.
        import pyarrow as pa
        import pyarrow.compute as pc

        from index.storage.tables import integers, strings

        pre_tokens = pc.split_pattern(texts if isinstance(texts, pa.StringArray) else strings(texts), " ")
        encoded = pre_tokens.flatten().dictionary_encode()
        names = encoded.dictionary.to_pylist()
        numbers = np.fromiter(map(self.__getitem__, names), np.int64, len(names))
        return Tokens(numbers[integers(encoded.indices)], integers(pc.list_value_length(pre_tokens)))
