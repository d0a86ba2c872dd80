"""Pictures: the openly licensed pictures of a bundle, as vectors in the space of its texts.

A picture is named SET/NAME, such as `pictograms/1f415` (its code points) or `storybooks/0001-01.jpg` (its
file). Pictograms show what the encoder sees in a text: the vector of a concept is the mean over the artists
who drew it, and it is shown as its emoji.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from index.arrays import Vectors, unit
from index.encoder.bundle import Bundle
from index.errors import DamagedError

PICTOGRAM_SET = "pictograms"  # the set whose pictures are shown as emoji
MAX_COMPONENT = 127  # of a vector's components in 8 bits
# Joiner, presentation, person, man, woman, their signs, and the arrow for facing right: a concept looks
# nearly the same with them as without.
VARIANT_CODES = frozenset({"200d", "fe0f", "1f9d1", "1f468", "1f469", "2642", "2640", "27a1"})
# Squares of other sizes than the large black and white ones.
SQUARES = dict.fromkeys(("25aa", "25fc", "25fe"), "2b1b") | dict.fromkeys(("25ab", "25fb", "25fd"), "2b1c")
PICTOGRAMS_PER_TEXT = 3  # pictograms for each text
LEAST_COSINE = 0.25  # of a pictogram that is shown; a nearest one below it is meaningless
LEAST_SHARE = 0.75  # of the cosine of the best pictogram
EMOJI_PRESENTATION = "\ufe0f"  # after a character: show it as a coloured picture


@dataclass(frozen=True)
class Pictures:
    """Pictures named SET/NAME; row i of `vectors` (n, d) is the picture of name i."""

    names: tuple[str, ...]
    vectors: Vectors

    @classmethod
    def open(cls, bundle: Bundle) -> "Pictures | None":
        """Read the pictures of a verified bundle; None if it has none. Raises DamagedError."""
        return read_pictures(bundle.pictures, bundle.manifest.dimension) if bundle.pictures else None

    def of_set(self, name: str) -> "Pictures":
        """The pictures of one set, without its name in theirs."""
        rows = [row for row, full_name in enumerate(self.names) if full_name.startswith(f"{name}/")]
        return Pictures(tuple(self.names[row].removeprefix(f"{name}/") for row in rows), self.vectors[rows])


def packed(names: Sequence[str], vectors: Vectors) -> bytes:
    """Serialise pictures as pictures.safetensors: `vectors` (n, d) in 8 bits, `names` as lines of UTF-8.

    Each row has a scale of its own, which is not kept: what is read has unit length.
    """
    lines = np.frombuffer("\n".join(names).encode(), np.uint8)
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = np.rint(vectors * (MAX_COMPONENT / np.where(largest > 0, largest, 1)))
    return save({"vectors": np.ascontiguousarray(scaled.astype(np.int8)), "names": lines})


def read_pictures(file: Path, dimension: int) -> Pictures:
    """Read pictures.safetensors; DamagedError if its shape is not (names, dimension)."""
    try:
        tensors = load_file(file)
        vectors = tensors["vectors"].astype(np.float32)
        names = tuple(bytes(tensors["names"]).decode().split("\n"))
    except (SafetensorError, KeyError, ValueError) as error:
        raise DamagedError(f"{file}: not a file of pictures: export it again") from error
    if vectors.shape != (len(names), dimension) or not np.isfinite(vectors).all():
        raise DamagedError(f"{file}: shape {vectors.shape}, not ({len(names)}, {dimension}): export it again")
    return Pictures(names, unit(vectors))


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
            raise DamagedError(f"{bundle.folder}: {code!r} is no pictogram: export it again") from error
        return cls(pictograms.names, pictograms.vectors)

    def nearest(self, texts: Vectors, k: int = PICTOGRAMS_PER_TEXT) -> list[list[tuple[str, float]]]:
        """Find up to k pictograms for each text of unit vectors (n, d), best first: emoji, and their cosines.

        Each has at least LEAST_COSINE, and at least LEAST_SHARE of the best one's cosine. Of the variants of
        a concept, such as a man and a woman doing the same, only the best is given.
        """
        families = [family(code) for code in self.codes]
        answers = []
        for cosines in texts @ self.vectors.T:
            best_of_family: dict[str, tuple[str, float]] = {}
            least = max(LEAST_COSINE, LEAST_SHARE * float(cosines.max(initial=0)))
            for row in np.argsort(-cosines, kind="stable").tolist():
                if len(best_of_family) == k or cosines[row] < least:
                    break
                best_of_family.setdefault(families[row], (emoji(self.codes[row]), float(cosines[row])))
            answers.append(list(best_of_family.values()))
        return answers


def family(code: str) -> str:
    """What variants of a concept share: its code points except VARIANT_CODES, or all if none is left.

    Squares have no size.
    """
    points = (SQUARES.get(point, point) for point in code.split("-"))
    return "-".join(point for point in points if point not in VARIANT_CODES) or code


def emoji(code: str) -> str:
    """The characters of code points such as 1f415, to be shown as a picture."""
    characters = "".join(chr(int(point, 16)) for point in code.split("-"))
    return characters + EMOJI_PRESENTATION if len(characters) == 1 else characters


def code_of(emoji: str) -> str:
    """The code points of an emoji, such as 1f415; without the presentation that `emoji` adds."""
    return "-".join(f"{ord(character):x}" for character in emoji.removesuffix(EMOJI_PRESENTATION))
