"""A language that an encoder was taught afterwards: subwords of its own, added to what the encoder gives.

Nothing that the other languages use is touched, neither tokenizer nor graph (docs/decisions/0103). A text's
vector is the unit vector of `base` times what the encoder gives for it, plus the sum of its subwords' rows
over the square root of their number.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from index.encoder.vectors import Vectors, unit
from index.errors import DamagedError
from index.text.normalisation import bare, clean
from index.text.pre_tokens import Tokens

SHORTEST, LONGEST = 3, 5  # characters of a subword, marks of a word's beginning and end included
BEGIN, END = "<", ">"
WORDS_CACHED = 1 << 16
MOST_CHARACTERS = 64  # of a word that are looked at: no written word is longer, and an address says nothing
MOST_WORDS = 256  # of a text
TEXTS_AT_ONCE = 1024


def spelled(text: str) -> list[str]:
    """The words of a text as subwords are cut from them: without punctuation, NFKC, in lower case."""
    folded = unicodedata.normalize("NFKC", bare(clean(text[: MOST_WORDS * MOST_CHARACTERS]))).lower()
    return [word[:MOST_CHARACTERS] for word in folded.split()[:MOST_WORDS]]


@lru_cache(WORDS_CACHED)
def subwords(word: str) -> tuple[str, ...]:
    """The word itself between its marks, and all SHORTEST to LONGEST characters of that in a row."""
    marked = f"{BEGIN}{word}{END}"
    parts = (
        marked[start : start + length]
        for length in range(SHORTEST, min(LONGEST, len(marked) - 1) + 1)
        for start in range(len(marked) - length + 1)
    )
    return (marked, *parts)


@dataclass(frozen=True)
class TaughtLanguage:
    """`rows` (n, d) float16 belong to `subwords`; `base` is the weight of the encoder's own vectors."""

    subwords: tuple[str, ...]
    rows: NDArray[np.float16]
    base: float

    def __call__(self, texts: Sequence[str], vectors: Vectors) -> Vectors:
        """Texts and what the encoder gives for them (n, d) -> (n, d) unit rows.

        A text of which nothing was learned keeps the encoder's.
        """
        taught = vectors.copy()
        for begin in range(0, len(texts), TEXTS_AT_ONCE):
            tokens = self.tokens(texts[begin : begin + TEXTS_AT_ONCE])
            learned = np.flatnonzero(tokens.lengths)
            if len(learned):
                sums = self._sums(tokens)[learned]
                taught[begin + learned] = unit(self.base * vectors[begin + learned] + sums)
        return taught

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """The numbers of the subwords of each text; without those that were not learned."""
        return Tokens.of([self._text(text) for text in texts])

    def _sums(self, tokens: Tokens) -> Vectors:
        sums = np.zeros((len(tokens), self.rows.shape[1]), np.float32)
        learned = np.flatnonzero(tokens.lengths)
        starts = (np.cumsum(tokens.lengths) - tokens.lengths)[learned]
        sums[learned] = np.add.reduceat(self.rows[tokens.ids].astype(np.float32), starts, axis=0)
        sums /= np.sqrt(np.maximum(tokens.lengths, 1).astype(np.float32))[:, None]
        return sums

    def _text(self, text: str) -> list[int]:
        numbers = self._numbers
        return [numbers[part] for word in spelled(text) for part in subwords(word) if part in numbers]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {part: number for number, part in enumerate(self.subwords)}

    def packed(self) -> bytes:
        """The content of taught/LANG.safetensors."""
        lines = np.frombuffer("\n".join(self.subwords).encode(), np.uint8)
        return save({"subwords": lines, "rows": self.rows, "base": np.array([self.base], np.float32)})


def read_taught(file: Path, dimension: int) -> TaughtLanguage:
    """Read taught/LANG.safetensors; DamagedError if it is not as `packed` writes it."""
    try:
        tensors = load_file(file)
        parts = tuple(bytes(tensors["subwords"]).decode().split("\n"))
        rows, base = tensors["rows"].astype(np.float16), float(tensors["base"][0])
    except (SafetensorError, KeyError, IndexError, ValueError) as error:
        raise DamagedError(f"{file}: not what a language was taught by: teach it again") from error
    if rows.shape != (len(parts), dimension) or not (np.isfinite(rows).all() and np.isfinite(base)):
        raise DamagedError(
            f"{file}: shape {rows.shape}, not ({len(parts)}, {dimension}): teach the language again"
        )
    return TaughtLanguage(parts, rows, base)
