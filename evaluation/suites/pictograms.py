"""Pictograms: what a language calls their concepts (docs/data.md), and which concepts are held out."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evaluation.suites.sets import available, read_table
from index.encoder.pictures import family
from index.errors import DataError

ConceptPart = Literal["train", "dev", "test"]


@dataclass(frozen=True)
class Named:
    """What a language calls a concept: its name, and words that go with it."""

    name: str
    keywords: tuple[str, ...]

    @property
    def captions(self) -> list[str]:
        """The name; then the keywords together, unless they say no more."""
        listed = ", ".join(self.keywords)
        return [self.name, listed] if listed and listed != self.name else [self.name]


def read_names(file: Path) -> dict[str, Named]:
    """Code points -> what the language of a file names/LANG.tsv calls them; DataError for a bad line."""
    rows = read_table(file, ("code points", "name", "keywords"), optional=1)
    return {code: Named(name, tuple(filter(None, listed.split("|")))) for code, name, listed in rows}


def part_of(code: str) -> ConceptPart:
    """Of every ten concepts, in the order of a hash, eight are learned from and one is for testing.

    Variants of a concept (a woman, a man, a person who does the same) are in one part.
    """
    place = int(hashlib.sha256(family(code).encode()).hexdigest(), 16) % 10
    return "dev" if place == 8 else "test" if place == 9 else "train"


def is_flag(code: str) -> bool:
    """Whether a concept is a country's or region's flag, named after it."""
    return "1f1e6" <= code[:5] <= "1f1ff" or code.startswith("1f3f4-e00")


def held_out_names(
    data: Path, known: Sequence[str], part: ConceptPart = "test"
) -> tuple[list[str], dict[str, list[str]]]:
    """The concepts of a part that all languages name, and by language their names, in that order.

    Raises DataError if there are fewer than two.
    """
    folder = data / "pictograms" / "names"
    languages = available(folder, ".tsv", known)
    named = {language: read_names(folder / f"{language}.tsv") for language in languages}
    shared = set.intersection(*(set(signs) for signs in named.values()))
    codes = sorted(code for code in shared if part_of(code) == part)
    if len(codes) < 2:
        raise DataError(
            f"{folder}: {len(codes)} of the concepts held out have a name in each of "
            f"{', '.join(languages)}: choose fewer languages"
        )
    return codes, {language: [signs[code].name for code in codes] for language, signs in named.items()}
