"""The words of a language: those of its corpus and those that the bundle saw in training."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index.bundle import Bundle
from index.encoder import TextEncoder
from index.errors import DamagedError
from index.pieces import MOST, Pieces
from index.text import words


def training_words(bundle: Bundle, language: str) -> Counter[str]:
    """words/LANG.tsv of a bundle as word -> count; empty without such a file. DamagedError if malformed."""
    path = bundle.words(language)
    return Counter() if path is None else Counter(read_counts(path))


def read_counts(path: Path) -> dict[str, int]:
    """Lines of a word, a tab and a count. DamagedError if malformed."""
    found = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        word, _, count = line.partition("\t")
        if not word or not count.isascii() or not count.isdigit():
            raise DamagedError(
                f"{path}, line {number}: not a word, a tab and a count: export the bundle again"
            )
        found[word] = int(count)
    return found


@lru_cache(maxsize=MOST)
def divided(piece: str, language: str) -> tuple[str, ...]:
    """The words of what stands between spaces. No word spans a space, so each piece is divided once."""
    return tuple(words(piece, language))


def count_words(texts: Sequence[str], language: str) -> dict[str, int]:
    """How often each word occurs in some texts."""
    pieces = Pieces()
    counts = np.bincount(pieces.numbered(texts).every, minlength=len(pieces))
    found: Counter[str] = Counter()
    for piece, count in zip(pieces, counts.tolist(), strict=True):
        for word in divided(piece, language):
            found[word] += count
    return dict(found)


def write_counts(path: Path, counts: Mapping[str, int]) -> None:
    """Write words and counts as `read_counts` reads them, most frequent first."""
    path.write_text("".join(f"{word}\t{counts[word]}\n" for word in by_frequency(counts)), "utf-8")


def by_frequency(counts: Mapping[str, int]) -> list[str]:
    """Words, most frequent first, ties in alphabetical order."""
    return sorted(counts, key=lambda word: (-counts[word], word))


def token_counts(encoder: TextEncoder, counts: Mapping[str, int]) -> NDArray[np.float64]:
    """(vocabulary,) how often each token occurs in words that occur `counts` times."""
    tokens = encoder.tokens(list(counts))
    weights = np.repeat(np.fromiter(counts.values(), np.float64, len(counts)), list(map(len, tokens)))
    every = np.fromiter(chain.from_iterable(tokens), np.int64, len(weights))
    # Sums of whole numbers: exact in any order.
    return np.bincount(every, weights, encoder.vocabulary).astype(np.float64)
