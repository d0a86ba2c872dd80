"""Keys: the row of every key ever seen, in bounded memory; what is long ago lies sorted on disk.

A log-structured merge table (O'Neil et al. 1996) of 128-bit digests: the latest in a dictionary, then sorted
runs in temporary files, of which two are merged when one is not much longer than the other.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from tempfile import TemporaryFile

import numpy as np
from numpy.typing import NDArray

LATEST = 1 << 17  # keys in memory, and those of a batch
BLOCK = 1 << 16  # keys merged at a time
KEY, ROW = np.dtype("S16"), np.dtype("<i8")
DIGEST = 15  # bytes; one more says that the key is there, since numpy cuts zeros off the end of a string

Run = tuple[NDArray[np.bytes_], NDArray[np.int64]]  # keys, sorted, and their rows


def digest(text: str) -> bytes:
    """The key of a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest() + b"\1"


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
        wanted = sorted({key for key in keys if key not in self._latest}) if self._runs else []
        if not wanted:
            return
        sought = np.array(wanted, KEY)
        for stored, rows in self._runs:
            places = np.minimum(np.searchsorted(stored, sought), len(stored) - 1)
            for place in np.flatnonzero(stored[places] == sought).tolist():
                self._expected[wanted[place]] = int(rows[places[place]])

    def first(self, key: bytes, row: int) -> int | None:
        """The row of a key that was expected; None, and from now on `row`, where it has none."""
        found = self._latest.get(key, self._expected.get(key))
        if found is None:
            self._latest[key] = row
        return found

    def _spill(self) -> None:
        keys = np.array(list(self._latest), KEY)
        order = np.argsort(keys)
        rows = np.fromiter(self._latest.values(), ROW, len(keys))
        self._latest = {}
        self._runs.append(_stored([(keys[order], rows[order])]))
        while len(self._runs) > 1 and len(self._runs[-2][0]) < 2 * len(self._runs[-1][0]):
            second, first = self._runs.pop(), self._runs.pop()
            self._runs.append(_stored(_merged(first, second)))


def _stored(blocks: Iterable[Run]) -> Run:
    """A run as memory-mapped files without a name."""
    with TemporaryFile() as keys, TemporaryFile() as rows:
        for block in blocks:
            keys.write(block[0].tobytes())
            rows.write(block[1].tobytes())
        keys.flush()
        rows.flush()
        return np.memmap(keys, KEY, "r"), np.memmap(rows, ROW, "r")


def _merged(first: Run, second: Run) -> Iterator[Run]:
    """Two runs as blocks of one."""
    begin = 0
    for start in range(0, len(first[0]), BLOCK):
        part = slice(start, start + BLOCK)
        last = start + BLOCK >= len(first[0])
        after = int(np.searchsorted(second[0][begin:], first[0][part][-1]))
        end = len(second[0]) if last else begin + after
        keys = np.concatenate([first[0][part], second[0][begin:end]])
        rows = np.concatenate([first[1][part], second[1][begin:end]])
        order = np.argsort(keys, kind="stable")
        yield keys[order], rows[order]
        begin = end
