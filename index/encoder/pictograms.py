"""Pictograms: what the encoder sees in a text, as the nearest of the drawings that it learned from.

A concept's vector is the mean over the artists who drew it; it is shown as its emoji.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from index.encoder.bundle import Bundle
from index.encoder.vectors import Vectors, unit
from index.errors import DamagedError

# Joiner, presentation, person, man, woman, their signs, and the arrow of who faces right: a concept with them
# shows nearly what it shows without.
VARIANTS = frozenset({"200d", "fe0f", "1f9d1", "1f468", "1f469", "2642", "2640", "27a1"})
SHOWN = 3  # pictograms of a text
LEAST_COSINE = 0.25  # of a pictogram that is shown; below it, what is nearest says nothing
LEAST_SHARE = 0.75  # of the best one's cosine
EMOJI_PRESENTATION = "\ufe0f"  # after a character: as a coloured picture, not as a sign of the text


@dataclass(frozen=True)
class Pictogram:
    """One emoji near a text, and its cosine to it."""

    emoji: str
    cosine: float


@dataclass(frozen=True)
class Pictograms:
    """Concepts by their code points, such as 1f468-200d-1f33e; row i of `vectors` (n, d) is of code i."""

    codes: tuple[str, ...]
    vectors: Vectors

    @classmethod
    def open(cls, bundle: Bundle) -> "Pictograms | None":
        """Those of a verified bundle; None where it has none. DamagedError if they are not as they should."""
        return read_pictograms(bundle.pictograms, bundle.manifest.dimension) if bundle.pictograms else None

    def nearest(self, texts: Vectors, k: int = SHOWN) -> list[list[Pictogram]]:
        """For each text, a unit vector of (n, d), at most k pictograms, best first: from LEAST_COSINE on,
        and nearly as near as the best.

        Of variants of a concept (a woman, a man who does the same) the best alone is given.
        """
        families = [family(code) for code in self.codes]
        answers = []
        for cosines in texts @ self.vectors.T:
            best: dict[str, Pictogram] = {}
            least = max(LEAST_COSINE, LEAST_SHARE * float(cosines.max(initial=0)))
            for row in np.argsort(-cosines, kind="stable").tolist():
                if len(best) == k or cosines[row] < least:
                    break
                best.setdefault(families[row], Pictogram(emoji(self.codes[row]), float(cosines[row])))
            answers.append(list(best.values()))
        return answers


def family(code: str) -> str:
    """What variants of a concept have in common: its code points but VARIANTS, all where nothing is left."""
    return "-".join(point for point in code.split("-") if point not in VARIANTS) or code


def emoji(code: str) -> str:
    """The characters of code points such as 1f415, asked to be shown as a picture."""
    characters = "".join(chr(int(point, 16)) for point in code.split("-"))
    return characters + EMOJI_PRESENTATION if len(characters) == 1 else characters


def packed(codes: Sequence[str], vectors: Vectors) -> bytes:
    """The content of pictograms.safetensors: `vectors` (n, d) float16 and `codes`, lines of UTF-8."""
    lines = np.frombuffer("\n".join(codes).encode(), np.uint8)
    return save({"vectors": np.ascontiguousarray(vectors.astype(np.float16)), "codes": lines})


def read_pictograms(file: Path, dimension: int) -> Pictograms:
    """Read pictograms.safetensors; DamagedError if it is not (codes, dimension)."""
    try:
        tensors = load_file(file)
        codes, vectors = bytes(tensors["codes"]).decode().split("\n"), tensors["vectors"].astype(np.float32)
        for code in codes:
            emoji(code)
    except (SafetensorError, KeyError, ValueError, OverflowError) as error:
        raise DamagedError(f"{file}: no pictograms: make it again (passepartout pictograms)") from error
    if vectors.shape != (len(codes), dimension) or not np.isfinite(vectors).all():
        raise DamagedError(
            f"{file}: shape {vectors.shape}, not ({len(codes)}, {dimension}): make it again "
            "(passepartout pictograms)"
        )
    return Pictograms(tuple(codes), unit(vectors))
