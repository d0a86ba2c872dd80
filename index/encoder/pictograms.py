"""Pictograms: what the encoder sees in a text, as the nearest of the drawings that it learned from.

A concept's vector is the mean over the artists who drew it; it is shown as its emoji.
"""

from dataclasses import dataclass

import numpy as np

from index.encoder.bundle import Bundle
from index.encoder.pictures import PICTOGRAMS, Pictures
from index.encoder.vectors import Vectors
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
        pictures = Pictures.open(bundle)
        shown = pictures.of_set(PICTOGRAMS) if pictures else None
        if shown is None or not shown.names:
            return None
        try:
            for code in shown.names:
                emoji(code)
        except (ValueError, OverflowError) as error:
            raise DamagedError(
                f"{bundle.folder}: {code!r} is no pictogram: make them again (passepartout pictograms)"
            ) from error
        return cls(shown.names, shown.vectors)

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
