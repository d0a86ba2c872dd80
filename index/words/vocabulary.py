"""The words of a language: those of its corpus and those that the bundle saw in training."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import DamagedError
from index.text.normalisation import words
from index.text.pre_tokens import MOST, Pieces, Tokens

TOGETHER = 12  # words that are tokenised as one text: few enough to have fewer tokens than it may have


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
    groups = _together(counts) if encoder.memory.apart(list(counts)) else [[word] for word in counts]
    texts = [" ".join(words) for words in groups]
    tokens = Tokens.of(encoder.tokens(texts))
    # What is longer than a text may be has been cut: such words are tokenised one by one.
    whole = tokens.lengths < encoder.bundle.manifest.max_tokens
    whole &= np.fromiter(map(len, texts), np.int64, len(texts)) <= encoder.longest
    cut = [word for row in np.flatnonzero(~whole) for word in groups[row]]
    tokens = tokens.take(np.flatnonzero(whole)).followed(Tokens.of(encoder.tokens(cut)))
    named = [groups[row][0] for row in np.flatnonzero(whole)] + cut
    weights = np.array([counts[word] for word in named], np.float64)
    # Sums of whole numbers: exact in any order.
    return np.bincount(tokens.every, weights[tokens.texts], encoder.vocabulary).astype(np.float64)


def _together(counts: Mapping[str, int]) -> list[list[str]]:
    """Words that occur equally often, TOGETHER at a time: a text takes a tokenizer longer than its words."""
    alike = [list(words) for _, words in groupby(sorted(counts, key=counts.__getitem__), counts.__getitem__)]
    return [words[start : start + TOGETHER] for words in alike for start in range(0, len(words), TOGETHER)]
