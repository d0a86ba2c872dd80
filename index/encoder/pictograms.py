"""Pictograms: what the encoder sees in a text, shown as the nearest of the drawings that it learned from.

The vector of a concept is the mean over the artists who drew it. It is shown as its emoji.
"""

from dataclasses import dataclass

import numpy as np

from index.encoder.bundle import Bundle
from index.encoder.pictures import PICTOGRAM_SET, Pictures
from index.encoder.vectors import Vectors
from index.errors import DamagedError

# Joiner, presentation, person, man, woman, their signs, and the arrow for facing right: a concept looks
# nearly the same with them as without.
VARIANT_CODES = frozenset({"200d", "fe0f", "1f9d1", "1f468", "1f469", "2642", "2640", "27a1"})
PICTOGRAMS_PER_TEXT = 3  # pictograms for each text
LEAST_COSINE = 0.25  # of a pictogram that is shown; a nearest one below it is meaningless
LEAST_SHARE = 0.75  # of the cosine of the best pictogram
EMOJI_PRESENTATION = "\ufe0f"  # after a character: show it as a coloured picture


@dataclass(frozen=True)
class Pictogram:
    """One emoji near a text, and its cosine to it."""

    emoji: str
    cosine: float


@dataclass(frozen=True)
class Pictograms:
    """Concepts by their code points, such as 1f468-200d-1f33e; row i of `vectors` (n, d) is code i."""

    codes: tuple[str, ...]
    vectors: Vectors

    @classmethod
    def open(cls, bundle: Bundle) -> "Pictograms | None":
        """Read the pictograms of a verified bundle; None if it has none. Raises DamagedError."""
        pictures = Pictures.open(bundle)
        pictograms = pictures.of_set(PICTOGRAM_SET) if pictures else None
        if pictograms is None or not pictograms.names:
            return None
        try:
            for code in pictograms.names:
                emoji(code)
        except (ValueError, OverflowError) as error:
            raise DamagedError(
                f"{bundle.folder}: {code!r} is no pictogram: make them again (passepartout pictograms)"
            ) from error
        return cls(pictograms.names, pictograms.vectors)

    def nearest(self, texts: Vectors, k: int = PICTOGRAMS_PER_TEXT) -> list[list[Pictogram]]:
        """Find up to k pictograms for each text, given as unit vectors (n, d), best first.

        Each has at least LEAST_COSINE, and at least LEAST_SHARE of the best one's cosine. Of the variants of
        a concept, such as a man and a woman doing the same, only the best is given.
        """
        families = [family(code) for code in self.codes]
        answers = []
        for cosines in texts @ self.vectors.T:
            best_of_family: dict[str, Pictogram] = {}
            least = max(LEAST_COSINE, LEAST_SHARE * float(cosines.max(initial=0)))
            for row in np.argsort(-cosines, kind="stable").tolist():
                if len(best_of_family) == k or cosines[row] < least:
                    break
                pictogram = Pictogram(emoji(self.codes[row]), float(cosines[row]))
                best_of_family.setdefault(families[row], pictogram)
            answers.append(list(best_of_family.values()))
        return answers


def family(code: str) -> str:
    """What variants of a concept share: its code points except VARIANT_CODES, or all if none is left."""
    return "-".join(point for point in code.split("-") if point not in VARIANT_CODES) or code


def emoji(code: str) -> str:
    """The characters of code points such as 1f415, to be shown as a picture."""
    characters = "".join(chr(int(point, 16)) for point in code.split("-"))
    return characters + EMOJI_PRESENTATION if len(characters) == 1 else characters
