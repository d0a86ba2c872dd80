"""Which sentences of a language translate which of another: the rows of each group, memory-mapped.

A row has several groups where its text stood in several places, a group several rows where a file gives
several translations.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index.texts import read_table, write_table

# The same pairs twice: sorted by row, and sorted by group.
COLUMNS = ("row", "group", "group_sorted", "row_of_group")

Numbers = NDArray[np.int64]


class Groups:
    """The pairs of one language."""

    def __init__(self, columns: Sequence[Numbers]) -> None:
        self._rows, self._groups, self._sorted, self._rows_of = columns

    @classmethod
    def open(cls, path: Path, links: int) -> "Groups":
        """Open a verified LANG.groups.arrow of so many pairs. Raises DamagedError."""
        table = read_table(path, COLUMNS, links)
        return cls([table.column(name).to_numpy() for name in COLUMNS])

    def __len__(self) -> int:
        return len(self._rows)

    def of(self, row: int) -> Numbers:
        """The groups of a row."""
        begin, end = np.searchsorted(self._rows, (row, row + 1))
        return self._groups[begin:end]

    def rows(self, groups: Sequence[int] | Numbers) -> list[int]:
        """The rows of some groups, each once, in order."""
        begins = np.searchsorted(self._sorted, groups, "left")
        ends = np.searchsorted(self._sorted, groups, "right")
        pairs = zip(begins.tolist(), ends.tolist(), strict=True)
        return sorted({int(row) for begin, end in pairs for row in self._rows_of[begin:end]})

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """(group, row), by group."""
        return zip(map(int, self._sorted), map(int, self._rows_of), strict=True)


def write_groups(path: Path, rows: Sequence[int], groups: Sequence[int]) -> int:
    """Write pairs of row and group, in any order; returns how many there are without repetition."""
    pairs = np.unique(np.stack([np.asarray(rows, np.int64), np.asarray(groups, np.int64)], axis=1), axis=0)
    by_group = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
    columns = (pairs[:, 0], pairs[:, 1], by_group[:, 1], by_group[:, 0])
    write_table(path, dict(zip(COLUMNS, columns, strict=True)))
    return len(pairs)
