"""Texts and ids seen before, exactly or nearly, in bounded memory: most lie in temporary SQLite files.

Near duplicates differ only in case, punctuation and spaces; or, if `likeness` is below 1, have at least that
estimated Jaccard similarity of character 5-grams (MinHash: Broder 1997; banding: Leskovec et al.
2020, chapter 3).
"""

import json
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from index.storage.groups import temporary_database

LATEST_KEYS = 1 << 17  # kept in memory, in addition to those of a batch
MIN_LETTERS = 12  # letters: shorter texts are near duplicates of none ("Polish" is not "polish")
# Punctuation that says something; the Greek question mark is a semicolon.
MEANINGFUL_PUNCTUATION = frozenset("?？؟;;%#&@*/")
GRAM, HASHES, BAND = 5, 128, 4  # characters of a gram; hashes of a signature; hashes of a band
HASH_PRIME = np.uint64((1 << 31) - 1)

CHECK_BITS = 16  # of a text's hash, stored with its first row to tell identical texts from near duplicates

Signature = NDArray[np.uint32]
TextKeys = Mapping[str, tuple[int, int]]  # text -> the key that its near duplicates share, its check bits


def key_of(text: str) -> int:
    """64 bits of a text, for this process: two of 20 million are alike with a probability of 0.00001."""
    return hash(text)


class FirstRows:
    """The first row of every key: `expect` the keys of a batch, then ask for them one by one."""

    def __init__(self) -> None:
        self._latest: dict[int, int] = {}
        self._expected: dict[int, int] = {}
        self._database = temporary_database("CREATE TABLE rows (key INTEGER PRIMARY KEY, row INTEGER);")

    def close(self) -> None:
        """Close the database, which deletes its file."""
        self._database.close()

    def __contains__(self, key: int) -> bool:
        return key in self._latest or key in self._expected

    def __setitem__(self, key: int, row: int) -> None:
        """Set the row of a key that had none when it was asked for."""
        self._latest[key] = row

    def expect(self, keys: Collection[int]) -> None:
        """Fetch the stored rows of the keys that will be asked for next."""
        if len(self._latest) >= LATEST_KEYS:
            # In order: neighbours are on one page.
            self._database.executemany(
                "INSERT OR REPLACE INTO rows VALUES (?, ?)", sorted(self._latest.items())
            )
            self._latest = {}
        stored = self._database.execute(
            "SELECT rows.key, row FROM json_each(?) AS wanted CROSS JOIN rows ON rows.key = wanted.value",
            [json.dumps(sorted(keys))],
        )
        self._expected = dict(stored)

    def first(self, key: int, row: int) -> int | None:
        """Return the row of an expected key; if it has none, store `row` and return None."""
        first = self._latest.get(key, self._expected.get(key))
        if first is None:
            self._latest[key] = row
        return first


class SeenTexts:
    """The first row of every text. `expect` the texts of a batch, then ask for them one by one.

    near: near duplicates count as the same text. likeness: their least Jaccard similarity; 1: only case,
    punctuation and spaces may differ.
    """

    def __init__(self, near: bool = True, likeness: float = 1.0) -> None:
        self._near, self._likeness = near, likeness
        self._rows = FirstRows()
        self._keys: TextKeys = {}
        self._database = temporary_database(
            "CREATE TABLE bands (key BLOB, row INTEGER, PRIMARY KEY (key, row)) WITHOUT ROWID;"
            "CREATE TABLE signatures (row INTEGER PRIMARY KEY, signature BLOB);"
        )
        random = np.random.default_rng(0)
        self._factors = random.integers(1, int(HASH_PRIME), HASHES, dtype=np.uint64)[:, None]
        self._shifts = random.integers(0, int(HASH_PRIME), HASHES, dtype=np.uint64)[:, None]

    def close(self) -> None:
        """Close the databases, which deletes their files."""
        self._rows.close()
        self._database.close()

    def keys_of(self, texts: Iterable[str]) -> TextKeys:
        """The keys by which each text is looked up."""
        return {text: _keys(text, self._near) for text in texts}

    def expect(self, keys: TextKeys) -> None:
        """Look up the texts that will be asked for next, given by their `keys_of`."""
        if keys is not self._keys:
            self._keys = keys
            self._rows.expect([key for key, _ in keys.values()])

    def new(self, texts: Iterable[str]) -> dict[int, str]:
        """Return those of some expected texts that have no row, each once, by key."""
        first = {self._keys[text][0]: text for text in reversed(list(texts))}
        return {key: text for key, text in reversed(first.items()) if key not in self._rows}

    def first(self, text: str, row: int) -> tuple[int, bool] | None:
        """Return the first row of a text or a near duplicate, and whether the text is identical.

        If there is none, store `row` and return None.
        """
        key, check = self._keys[text]
        seen = self._rows.first(key, _packed(row, check))
        if seen is not None:
            return seen >> CHECK_BITS, seen % (1 << CHECK_BITS) == check
        if self._likeness < 1 and row >= 0 and len(folded := fold(text)) >= MIN_LETTERS:
            like = self._like(self._signature(folded), row)
            if like is not None:
                self._rows[key] = _packed(like, check)
                return like, False
        return None

    def _like(self, signature: Signature, row: int) -> int | None:
        bands = [bytes([band]) + values.tobytes() for band, values in enumerate(signature.reshape(-1, BAND))]
        for candidate, values in self._candidates(bands):
            if (signature == np.frombuffer(values, np.uint32)).mean() >= self._likeness:
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
        codes = [crc32(gram.encode("utf-8", "surrogatepass")) % int(HASH_PRIME) for gram in grams]
        hashes = (self._factors * np.array(codes, np.uint64) + self._shifts) % HASH_PRIME
        signature: Signature = hashes.min(axis=1).astype(np.uint32)
        return signature


def _keys(text: str, near: bool) -> tuple[int, int]:
    key = key_of(text)
    check = key % (1 << CHECK_BITS)
    if not near:
        return key, check
    ascii_only = text.isascii()
    folded = text.lower().encode().translate(None, _UNCOUNTED).decode() if ascii_only else fold(text)
    return key_of(folded) if len(folded) >= MIN_LETTERS else key, check


def _packed(row: int, check: int) -> int:
    return (row << CHECK_BITS) | check


class _Letters(dict[int, str | None]):
    """The table of `fold` for `str.translate`: drops spaces and punctuation without a meaning."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        counts = character in MEANINGFUL_PUNCTUATION or unicodedata.category(character)[0] not in "PZC"
        self[code] = character if counts else None
        return self[code]


_LETTERS = _Letters()
# The ASCII characters that `fold` drops.
_UNCOUNTED = bytes(code for code in range(128) if not chr(code).translate(_LETTERS))


def fold(text: str) -> str:
    """Fold a text as near duplicates share it: NFKC, case folded, without spaces and mere punctuation."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS)
