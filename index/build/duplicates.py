"""Texts and ids seen before, exactly or nearly, in bounded memory: most lie in a temporary SQLite file.

Near duplicates differ only in case, punctuation and spaces.
"""

import json
import sqlite3
import unicodedata
from collections.abc import Collection, Iterable, Mapping

from index.text.normalisation import CharacterTable

CACHE_KIB = 32768  # of an SQLite database
LATEST_KEYS = 1 << 17  # kept in memory, in addition to those of a batch
MIN_LETTERS = 12  # letters: shorter texts are near duplicates of none ("Polish" is not "polish")
# Punctuation that says something; the Greek question mark is a semicolon.
MEANINGFUL_PUNCTUATION = frozenset("?？؟;;%#&@*/")
CHECK_BITS = 16  # of a text's hash, stored with its first row to tell identical texts from near duplicates

TextKeys = Mapping[str, tuple[int, int]]  # text -> the key that its near duplicates share, its check bits


def key_of(text: str) -> int:
    """64 bits of a text, for this process: two of 20 million are alike with a probability of 0.00001."""
    return hash(text)


class FirstRows:
    """The first row of every key: `expect` the keys of a batch, then ask for them one by one."""

    def __init__(self) -> None:
        self._latest: dict[int, int] = {}
        self._expected: dict[int, int] = {}
        self._database = sqlite3.connect("")  # a file of its own, written only when the cache is full
        self._database.executescript(
            f"PRAGMA cache_size=-{CACHE_KIB}; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
            "CREATE TABLE rows (key INTEGER PRIMARY KEY, row INTEGER);"
        )

    def close(self) -> None:
        """Close the database, which deletes its file."""
        self._database.close()

    def __contains__(self, key: int) -> bool:
        return key in self._latest or key in self._expected

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

    near: near duplicates count as the same text.
    """

    def __init__(self, near: bool = True) -> None:
        self._near, self._rows = near, FirstRows()
        self._keys: TextKeys = {}

    def close(self) -> None:
        """Close the database, which deletes its file."""
        self._rows.close()

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
        seen = self._rows.first(key, (row << CHECK_BITS) | check)
        if seen is not None:
            return seen >> CHECK_BITS, seen % (1 << CHECK_BITS) == check
        return None


def _keys(text: str, near: bool) -> tuple[int, int]:
    key = key_of(text)
    check = key % (1 << CHECK_BITS)
    if not near or "\0" in text:  # a text with its context
        return key, check
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS)
    return key_of(folded) if len(folded) >= MIN_LETTERS else key, check


def _counted(character: str) -> str | None:
    """What counts of a character: spaces and punctuation without a meaning are dropped."""
    counts = character in MEANINGFUL_PUNCTUATION or unicodedata.category(character)[0] not in "PZC"
    return character if counts else None


_LETTERS = CharacterTable(_counted)
