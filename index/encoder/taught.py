"""TaughtLanguage: a language taught to a finished encoder, by subword vectors added to the encoder's output.

The tokenizer and the graph, which the other languages use, do not change (docs/decisions/0103). With v the
encoder's vector of a text, and r_1 .. r_n the vectors of its n subwords, the text's vector is
base · v + (r_1 + .. + r_n) / √n, scaled to unit length.
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

from index.arrays import Vectors, unit
from index.errors import DamagedError
from index.text.normalisation import bare, clean
from index.text.pre_tokens import Tokens

SHORTEST, LONGEST = 3, 5  # characters of a subword, including the marks of a word's beginning and end
BEGIN, END = "<", ">"
WORDS_CACHED = 1 << 16
MOST_CHARACTERS = 64  # read of a word: real words are shorter
MOST_WORDS = 256  # of a text
TEXTS_AT_ONCE = 1024


def spelled(text: str) -> list[str]:
    """The words of a text from which subwords are made: without punctuation, in NFKC and lower case."""
    folded = unicodedata.normalize("NFKC", bare(clean(text[: MOST_WORDS * MOST_CHARACTERS]))).lower()
    return [word[:MOST_CHARACTERS] for word in folded.split()[:MOST_WORDS]]


@lru_cache(WORDS_CACHED)
def subwords(word: str) -> tuple[str, ...]:
    """The subwords of a word: the word between BEGIN and END, and its n-grams of SHORTEST to LONGEST."""
    marked = f"{BEGIN}{word}{END}"
    n_grams = (
        marked[start : start + length]
        for length in range(SHORTEST, min(LONGEST, len(marked) - 1) + 1)
        for start in range(len(marked) - length + 1)
    )
    return (marked, *n_grams)


@dataclass(frozen=True)
class TaughtLanguage:
    """The vectors `rows` (n, d) float16 of `subwords`, and the weight `base` of the encoder's vectors."""

    subwords: tuple[str, ...]
    rows: NDArray[np.float16]
    base: float

    def __call__(self, texts: Sequence[str], vectors: Vectors) -> Vectors:
        """Combine the encoder's vectors of texts (n, d) with those of their subwords -> (n, d) unit rows.

        A text without a learned subword keeps the encoder's vector.
        """
        taught = vectors.copy()
        for begin in range(0, len(texts), TEXTS_AT_ONCE):
            tokens = self.tokens(texts[begin : begin + TEXTS_AT_ONCE])
            learned = np.flatnonzero(tokens.lengths)
            roots = np.sqrt(tokens.lengths[learned, None], dtype=np.float32)
            sums = tokens.sums(self.rows)[learned] / roots
            taught[begin + learned] = unit(self.base * vectors[begin + learned] + sums)
        return taught

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """The numbers of the learned subwords of each text."""
        numbers = self._numbers
        rows = ([part for word in spelled(text) for part in subwords(word)] for text in texts)
        return Tokens.of([[numbers[part] for part in row if part in numbers] for row in rows])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {subword: number for number, subword in enumerate(self.subwords)}

    def packed(self) -> bytes:
        """Serialise as taught/LANG.safetensors."""
        lines = np.frombuffer("\n".join(self.subwords).encode(), np.uint8)
        return save({"subwords": lines, "rows": self.rows, "base": np.array([self.base], np.float32)})


def read_taught(file: Path, dimension: int) -> TaughtLanguage:
    """Read taught/LANG.safetensors; DamagedError if `packed` would not write it so."""
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
