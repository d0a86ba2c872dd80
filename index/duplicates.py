"""Texts seen before, exactly or nearly, in bounded memory: keys go to a temporary SQLite file of its own.

Near duplicates are equal but for case, punctuation and spaces; or, where a likeness below 1 is asked for,
have that estimated Jaccard similarity of character 5-grams (MinHash: Broder 1997; banding: Leskovec et al.
2020, chapter 3).
"""

import sqlite3
import unicodedata
from collections.abc import Iterator
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

CACHE_KIB = 65536
SHORTEST = 12  # letters: shorter texts are near duplicates of none ("Polish" is not "polish")
MEANT = frozenset("?？؟;;%#&@*/")  # punctuation that says something; the Greek question mark is a semicolon
GRAM, HASHES, BAND = 5, 128, 4
PRIME = np.uint64((1 << 31) - 1)

Signature = NDArray[np.uint32]


class Seen:
    """The first row of every text."""

    def __init__(self, likeness: float = 1.0) -> None:
        self.likeness = likeness
        # An empty name: SQLite's own temporary file, written only when the cache is full, gone when closed.
        self._database = sqlite3.connect("")
        self._database.executescript(
            f"PRAGMA cache_size=-{CACHE_KIB}; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
            "CREATE TABLE keys (key BLOB PRIMARY KEY, row INTEGER) WITHOUT ROWID;"
            "CREATE TABLE bands (key BLOB, row INTEGER, PRIMARY KEY (key, row)) WITHOUT ROWID;"
            "CREATE TABLE signatures (row INTEGER PRIMARY KEY, signature BLOB);"
        )
        random = np.random.default_rng(0)
        self._factors = random.integers(1, int(PRIME), HASHES, dtype=np.uint64)[:, None]
        self._shifts = random.integers(0, int(PRIME), HASHES, dtype=np.uint64)[:, None]

    def close(self) -> None:
        self._database.close()

    def exact(self, text: str, row: int) -> int | None:
        """The row that has this text; None, and from now on `row`, where there is none."""
        return self._key(b"=" + _digest(text), row)

    def near(self, text: str, row: int) -> int | None:
        """The row that has nearly this text; None, and from now on `row`, where there is none."""
        folded = fold(text)
        if len(folded) < SHORTEST:
            return None
        first = self._key(b"~" + _digest(folded), row)
        if first is None and self.likeness < 1:
            first = self._like(self._signature(folded), row)
        return first

    def _key(self, key: bytes, row: int) -> int | None:
        found = self._database.execute("SELECT row FROM keys WHERE key = ?", (key,)).fetchone()
        if found is None:
            self._database.execute("INSERT INTO keys VALUES (?, ?)", (key, row))
        return None if found is None else int(found[0])

    def _like(self, signature: Signature, row: int) -> int | None:
        bands = [bytes([band]) + values.tobytes() for band, values in enumerate(signature.reshape(-1, BAND))]
        for candidate, values in self._candidates(bands):
            if (signature == np.frombuffer(values, np.uint32)).mean() >= self.likeness:
                return candidate
        self._database.executemany("INSERT INTO bands VALUES (?, ?)", [(key, row) for key in bands])
        self._database.execute("INSERT INTO signatures VALUES (?, ?)", (row, signature.tobytes()))
        return None

    def _candidates(self, bands: list[bytes]) -> Iterator[tuple[int, bytes]]:
        marks = ",".join("?" * len(bands))
        yield from self._database.execute(
            f"SELECT DISTINCT row, signature FROM bands JOIN signatures USING (row) WHERE key IN ({marks}) "
            "ORDER BY row",
            bands,
        ).fetchall()

    def _signature(self, folded: str) -> Signature:
        """(HASHES,) the least hash of the text's grams under each of as many hash functions."""
        grams = {folded[start : start + GRAM] for start in range(len(folded) - GRAM + 1)}
        codes = [int.from_bytes(_digest(gram)[:4], "little") % int(PRIME) for gram in grams]
        hashes = (self._factors * np.array(codes, np.uint64) + self._shifts) % PRIME
        signature: Signature = hashes.min(axis=1).astype(np.uint32)
        return signature


def fold(text: str) -> str:
    """What near duplicates share: NFKC, case folded, without spaces and mere punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(filter(_counts, folded))


def _counts(character: str) -> bool:
    return character in MEANT or unicodedata.category(character)[0] not in "PZC"


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
