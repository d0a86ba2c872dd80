"""The words of a language: those of its corpus and those that the bundle saw in training."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index.bundle import Bundle
from index.encoder import TextEncoder
from index.errors import DamagedError


def training_words(bundle: Bundle, language: str) -> Counter[str]:
    """words/LANG.tsv of a bundle as word -> count; empty without such a file. DamagedError if malformed."""
    path = bundle.words(language)
    return Counter() if path is None else Counter(dict(_read(path)))


def _read(path: Path) -> list[tuple[str, int]]:
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        word, _, count = line.partition("\t")
        if not word or not count.isascii() or not count.isdigit():
            raise DamagedError(
                f"{path}, line {number}: not a word, a tab and a count: export the bundle again"
            )
        found.append((word, int(count)))
    return found


def by_frequency(counts: Mapping[str, int]) -> list[str]:
    """Words, most frequent first, ties in alphabetical order."""
    return sorted(counts, key=lambda word: (-counts[word], word))


def token_counts(encoder: TextEncoder, counts: Mapping[str, int]) -> NDArray[np.float64]:
    """(vocabulary,) how often each token occurs in words that occur `counts` times."""
    found = np.zeros(encoder.vocabulary)
    for tokens, count in zip(encoder.tokens(list(counts)), counts.values(), strict=True):
        np.add.at(found, tokens, count)
    return found
