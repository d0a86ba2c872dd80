"""Texts seen before, exactly or nearly, in bounded memory (keys.py; likeness in a temporary SQLite file).

Near duplicates are equal but for case, punctuation and spaces; or, where a likeness below 1 is asked for,
have that estimated Jaccard similarity of character 5-grams (MinHash: Broder 1997; banding: Leskovec et al.
2020, chapter 3).
"""

import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from index.corpus.keys import Keys, digest

CACHE_KIB = 65536
SHORTEST = 12  # letters: shorter texts are near duplicates of none ("Polish" is not "polish")
MEANT = frozenset("?？؟;;%#&@*/")  # punctuation that says something; the Greek question mark is a semicolon
GRAM, HASHES, BAND = 5, 128, 4
PRIME = np.uint64((1 << 31) - 1)

Signature = NDArray[np.uint32]
TextKeys = Mapping[str, tuple[bytes, bytes | None]]  # text -> exact key, near key


class Seen:
    """The first row of every text. `expect` the texts of a batch, then ask for them one by one."""

    def __init__(self, likeness: float = 1.0) -> None:
        self.likeness = likeness
        self._keys = Keys()
        self._own: TextKeys = {}
        # An empty name: SQLite's own temporary file, written only when the cache is full, gone when closed.
        self._database = sqlite3.connect("")
        self._database.executescript(
            f"PRAGMA cache_size=-{CACHE_KIB}; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
            "CREATE TABLE bands (key BLOB, row INTEGER, PRIMARY KEY (key, row)) WITHOUT ROWID;"
            "CREATE TABLE signatures (row INTEGER PRIMARY KEY, signature BLOB);"
        )
        random = np.random.default_rng(0)
        self._factors = random.integers(1, int(PRIME), HASHES, dtype=np.uint64)[:, None]
        self._shifts = random.integers(0, int(PRIME), HASHES, dtype=np.uint64)[:, None]

    def close(self) -> None:
        self._database.close()

    def expect(self, keys: TextKeys) -> None:
        """Look the texts up that are asked for next; `keys` are what `text_keys` says of them."""
        if keys is self._own:
            return
        self._own = keys
        self._keys.expect(key for both in keys.values() for key in both if key is not None)

    def new(self, texts: Iterable[str]) -> list[str]:
        """Those of some texts that were expected which have no row."""
        keys, own = self._keys, self._own
        return [text for text in texts if own[text][0] not in keys]

    def exact(self, text: str, row: int) -> int | None:
        """The row that has this text; None, and from now on `row`, where there is none."""
        return self._keys.first(self._own[text][0], row)

    def near(self, text: str, row: int) -> int | None:
        """The row that has nearly this text; None, and from now on `row`, where there is none."""
        exact, key = self._own[text]
        if key is None:
            return None
        first = self._keys.first(key, row)
        if first is None and self.likeness < 1:
            first = self._like(self._signature(fold(text)), row)
        if first is not None:
            # What stands for the text, should it come again.
            self._keys[exact] = self._keys[key] = first
        return first

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
        codes = [int.from_bytes(digest(gram)[:4], "little") % int(PRIME) for gram in grams]
        hashes = (self._factors * np.array(codes, np.uint64) + self._shifts) % PRIME
        signature: Signature = hashes.min(axis=1).astype(np.uint32)
        return signature


def text_keys(texts: Iterable[str]) -> TextKeys:
    """What each text is looked up by."""
    return {text: _both(text) for text in texts}


def _both(text: str) -> tuple[bytes, bytes | None]:
    if text.isascii():
        own = text.encode()
        folded = own.lower().translate(None, _MERE)
        return digest(b"=" + own), digest(b"~" + folded) if len(folded) >= SHORTEST else None
    own, letters = text.encode("utf-8", "surrogatepass"), fold(text)
    near = digest(b"~" + letters.encode("utf-8", "surrogatepass")) if len(letters) >= SHORTEST else None
    return digest(b"=" + own), near


class _Letters(dict[int, str | None]):
    """What `str.translate` makes of each character: None for what does not count."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        counts = character in MEANT or unicodedata.category(character)[0] not in "PZC"
        self[code] = character if counts else None
        return self[code]


_LETTERS = _Letters()
# What of ASCII does not count.
_MERE = bytes(code for code in range(128) if not chr(code).translate(_LETTERS))


def fold(text: str) -> str:
    """What near duplicates share: NFKC, case folded, without spaces and mere punctuation."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS)
