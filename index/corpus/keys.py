"""Keys: the row of every key ever seen, in bounded memory; what is long ago lies sorted on disk.

A log-structured merge table (O'Neil et al. 1996) of 128-bit digests: the latest in a dictionary, then sorted
runs in temporary files, of which two are merged when one is not much longer than the other. A run is sorted
by the first half of its keys, which is a number and found faster than bytes; the second half tells apart the
few that share a first one.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from tempfile import TemporaryFile

import numpy as np
from numpy.typing import NDArray

LATEST = 1 << 17  # keys in memory, and those of a batch
BLOCK = 1 << 16  # keys merged at a time
BYTES = 16
HALF, ROW = np.dtype("<u8"), np.dtype("<i8")

# Both halves of keys, sorted by the first, and their rows.
Run = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]


def digest(text: str | bytes) -> bytes:
    """The key of a text."""
    content = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=BYTES).digest()


class Keys:
    """`expect` the keys of a batch, then ask for them one by one."""

    def __init__(self) -> None:
        self._latest: dict[bytes, int] = {}
        self._expected: dict[bytes, int] = {}
        self._runs: list[Run] = []

    def __contains__(self, key: bytes) -> bool:
        return key in self._latest or key in self._expected

    def __setitem__(self, key: bytes, row: int) -> None:
        """Let a key that was asked for, and had no row then, have another one."""
        where = self._latest if key in self._latest else self._expected
        where[key] = row

    def expect(self, keys: Iterable[bytes]) -> None:
        """Fetch what lies on disk of the keys that are asked for next."""
        self._expected = {}
        if len(self._latest) >= LATEST:
            self._spill()
        wanted = [key for key in keys if key not in self._latest] if self._runs else []
        if not wanted:
            return
        first, second = _halves(wanted)
        order = np.argsort(first)
        first, second = first[order], second[order]
        for run in self._runs:
            for place, row in zip(*_found(run, first, second), strict=True):
                self._expected[wanted[order[place]]] = row

    def first(self, key: bytes, row: int) -> int | None:
        """The row of a key that was expected; None, and from now on `row`, where it has none."""
        found = self._latest.get(key, self._expected.get(key))
        if found is None:
            self._latest[key] = row
        return found

    def _spill(self) -> None:
        first, second = _halves(list(self._latest))
        rows = np.fromiter(self._latest.values(), ROW, len(first))
        order = np.argsort(first)
        self._latest = {}
        self._runs.append(_stored([(first[order], second[order], rows[order])]))
        while len(self._runs) > 1 and len(self._runs[-2][0]) < 2 * len(self._runs[-1][0]):
            newer, older = self._runs.pop(), self._runs.pop()
            self._runs.append(_stored(_merged(older, newer)))


def _halves(keys: list[bytes]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    both = np.frombuffer(b"".join(keys), HALF).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


def _found(run: Run, first: NDArray[np.uint64], second: NDArray[np.uint64]) -> tuple[list[int], list[int]]:
    """Which of some keys, sorted by their first halves, are in a run, and their rows."""
    stored, others, rows = run
    places = np.searchsorted(stored, first)
    sought = np.arange(len(first))
    keys, values = list[int](), list[int]()
    while len(sought := sought[places < len(stored)]):
        places = places[places < len(stored)]
        alike = stored[places] == first[sought]
        places, sought = places[alike], sought[alike]
        same = others[places] == second[sought]
        keys += sought[same].tolist()
        values += rows[places[same]].tolist()
        places, sought = places[~same] + 1, sought[~same]
    return keys, values


def _stored(blocks: Iterable[Run]) -> Run:
    """A run as memory-mapped files without a name."""
    with TemporaryFile() as first, TemporaryFile() as second, TemporaryFile() as rows:
        files = (first, second, rows)
        for block in blocks:
            for file, column in zip(files, block, strict=True):
                file.write(column.tobytes())
        for file in files:
            file.flush()
        return np.memmap(first, HALF, "r"), np.memmap(second, HALF, "r"), np.memmap(rows, ROW, "r")


def _merged(one: Run, other: Run) -> Iterator[Run]:
    """Two runs as blocks of one."""
    begin = 0
    for start in range(0, len(one[0]), BLOCK):
        part = slice(start, start + BLOCK)
        last = start + BLOCK >= len(one[0])
        after = int(np.searchsorted(other[0][begin:], one[0][part][-1]))
        end = len(other[0]) if last else begin + after
        columns = [np.concatenate([mine[part], its[begin:end]]) for mine, its in zip(one, other, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        yield columns[0][order], columns[1][order], columns[2][order]
        begin = end
