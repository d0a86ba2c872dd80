"""Groups of sentences that translate each other: the rows of each group in a language, memory-mapped.

A row is in several groups if its text occurred in several places; a group has several rows if a file gives
several translations.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import numpy as np
from numpy.typing import NDArray

from index.storage.tables import read_table, write_table

CACHE_KIB = 32768  # of each SQLite database
PAIRS_FETCHED = 1 << 16  # from the database at a time

# The pairs are stored twice: sorted by row, and sorted by group.
PAIR_COLUMNS = ("row", "group", "group_sorted", "row_of_group")

Numbers = NDArray[np.int64]


def temporary_database(schema: str) -> sqlite3.Connection:
    """An SQLite file of its own, written only when the cache is full, gone when closed."""
    database = sqlite3.connect("")
    database.executescript(
        f"PRAGMA cache_size=-{CACHE_KIB}; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {schema}"
    )
    return database


class Groups:
    """The (row, group) pairs of one language."""

    def __init__(self, columns: Sequence[Numbers]) -> None:
        self._rows, self._groups, self._sorted, self._rows_of = columns

    @classmethod
    def open(cls, path: Path, links: int) -> "Groups":
        """Open a verified LANG.groups.arrow of `links` pairs. Raises DamagedError."""
        table = read_table(path, PAIR_COLUMNS, links)
        return cls([table.column(name).to_numpy() for name in PAIR_COLUMNS])

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

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield (group, row) by ascending group."""
        return zip(map(int, self._sorted), map(int, self._rows_of), strict=True)


class Links:
    """Collects (row, group) pairs and sorts them on disk (SQLite), in bounded memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._database = temporary_database(
            'CREATE TABLE links (row INTEGER, "group" INTEGER, PRIMARY KEY (row, "group")) WITHOUT ROWID;'
        )

    def __enter__(self) -> "Links":
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, rows: Iterable[int], groups: Iterable[int]) -> None:
        """Add pairs, in any order; repetitions are ignored."""
        pairs = zip(rows, groups, strict=True)
        self._database.executemany("INSERT OR IGNORE INTO links VALUES (?, ?)", pairs)

    def write(self, path: Path) -> int:
        """Write LANG.groups.arrow; returns the number of distinct pairs."""
        self._database.execute('CREATE INDEX by_group ON links ("group", row)')
        columns = [*self._columns('row, "group"'), *self._columns('"group", row')]
        write_table(path, dict(zip(PAIR_COLUMNS, columns, strict=True)))
        return len(columns[0])

    def _columns(self, order: str) -> tuple[Numbers, Numbers]:
        """All pairs in the given order, memory-mapped from anonymous temporary files."""
        cursor = self._database.execute(f"SELECT {order} FROM links ORDER BY {order}")
        with TemporaryFile(dir=self._folder) as first, TemporaryFile(dir=self._folder) as second:
            while pairs := cursor.fetchmany(PAIRS_FETCHED):
                for file, column in zip((first, second), np.array(pairs, np.int64).T, strict=True):
                    file.write(column.tobytes())
            return _mapped(first), _mapped(second)


def _mapped(file: IO[bytes]) -> Numbers:
    file.flush()
    return np.memmap(file, np.int64, "r") if file.tell() else np.zeros(0, np.int64)
