"""Groups of sentences that translate each other: the rows of each group in a language, memory-mapped.

A row is in several groups if its text occurred in several places; a group has several rows if a file gives
several translations.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from index.arrays import Numbers
from index.storage.tables import integers, read_table, write_table

# The pairs are stored twice: sorted by row, and sorted by group.
PAIR_COLUMNS = ("row", "group", "group_sorted", "row_of_group")


class Groups:
    """The (row, group) pairs of one language."""

    def __init__(self, columns: Sequence[Numbers]) -> None:
        self._rows, self._groups, self._sorted, self._rows_of = columns

    @classmethod
    def open(cls, path: Path, links: int) -> "Groups":
        """Open a verified LANG.groups.arrow of `links` pairs. Raises DamagedError."""
        table = read_table(path, PAIR_COLUMNS, links)
        return cls([integers(table.column(name)) for name in PAIR_COLUMNS])

    def __len__(self) -> int:
        return len(self._rows)

    def of(self, row: int) -> Numbers:
        """The group numbers of a row, ascending."""
        begin, end = np.searchsorted(self._rows, (row, row + 1))
        return self._groups[begin:end]

    def between(self, start: int, stop: int) -> tuple[Numbers, Numbers]:
        """The rows (n,) and groups (n,) of the pairs with start <= row < stop."""
        begin, end = np.searchsorted(self._rows, (start, stop))
        return self._rows[begin:end], self._groups[begin:end]

    def rows(self, groups: Sequence[int] | Numbers) -> list[int]:
        """The rows of some groups, ascending, without repetition."""
        begins = np.searchsorted(self._sorted, groups, "left")
        ends = np.searchsorted(self._sorted, groups, "right")
        pairs = zip(begins.tolist(), ends.tolist(), strict=True)
        return sorted({int(row) for begin, end in pairs for row in self._rows_of[begin:end]})

    def shared(self, other: "Groups") -> int:
        """The number of groups that both have sentences of."""
        return len(np.intersect1d(self._sorted, other._sorted))  # noqa: SLF001

    def rows_shared(self, other: "Groups") -> Numbers:
        """The rows of groups that the other has sentences of, too, with repetition."""
        return self._rows[np.isin(self._groups, other._groups)]  # noqa: SLF001

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield (group, row) by ascending group."""
        return zip(map(int, self._sorted), map(int, self._rows_of), strict=True)


def write_groups(path: Path, rows: Sequence[int] | Numbers, groups: Sequence[int] | Numbers) -> int:
    """Write LANG.groups.arrow from pairs in any order, repetitions ignored; returns how many are distinct."""
    pairs = np.unique(np.stack([np.asarray(rows, np.int64), np.asarray(groups, np.int64)], axis=1), axis=0)
    by_group = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))][:, ::-1]
    columns = [*pairs.T, *by_group.T]
    write_table(path, dict(zip(PAIR_COLUMNS, columns, strict=True)))
    return len(pairs)
