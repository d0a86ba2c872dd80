"""Examples that a language is taught from: captions, and the vectors of their pictures."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from index.arrays import Numbers, Vectors
from index.encoder.pictures import EMOJI_PRESENTATION, PICTOGRAM_SET, Pictures, emoji
from index.errors import UsageError, listed
from index.text.normalisation import clean

LONGEST_LINE = 10_000  # characters
MOST_LINES = 20_000  # of one file
MOST_UNKNOWN = 50  # pictures that an error names
CAPTION_COLUMNS = ("picture", "text in the new language")


@dataclass(frozen=True)
class Examples:
    """Texts of the new language; text i is a caption of picture `rows[i]`, whose vector it should get."""

    texts: tuple[str, ...]
    rows: Numbers
    pictures: Pictures

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def vectors(self) -> Vectors:
        """(n, d) the vector that each text should get."""
        return self.pictures.vectors[self.rows]

    def take(self, lines: Numbers) -> "Examples":
        """The examples of the given lines."""
        return replace(self, texts=tuple(self.texts[line] for line in lines.tolist()), rows=self.rows[lines])


def read_captions(
    lines: Iterable[str], where: str, pictures: Pictures, known: str = "the bundle's"
) -> Examples:
    """Read captions: lines of a picture's name, a tab and a text in the new language.

    A picture is named SET/NAME, or NAME if no other set has it; a pictogram also by its emoji, a picture of
    the user by its path. In errors, `where` names the lines and `known` the pictures. Raises UsageError for
    malformed lines, unknown pictures, and no lines at all.
    """
    rows = _rows_by_name(pictures)
    table = list(_captions(lines, where))
    if unknown := [f"{name} (line {number})" for number, name, _ in table if name not in rows]:
        fact = "1 picture is" if len(unknown) == 1 else f"{len(unknown)} pictures are"
        raise UsageError(f"{where}: {fact} not among {known}: {listed(unknown, MOST_UNKNOWN)}")
    picture_rows = np.array([rows[name] for _, name, _ in table], np.int64)
    return Examples(tuple(text for _, _, text in table), picture_rows, pictures)


def names_of(lines: Iterable[str], where: str) -> list[str]:
    """The names of pictures in lines as `read_captions` reads them, each once."""
    return list(dict.fromkeys(name for _, name, _ in _captions(lines, where)))


def _captions(lines: Iterable[str], where: str) -> Iterator[tuple[int, str, str]]:
    """Yield number and cells of each line that is not empty; UsageError for one that is no caption."""
    count, columns = 0, " TAB ".join(CAPTION_COLUMNS)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if (count := count + 1) > MOST_LINES:
            raise UsageError(f"{where}: more than {MOST_LINES} lines: leave some out")
        if len(line) > LONGEST_LINE:
            raise UsageError(f"{where} line {number}: longer than {LONGEST_LINE} characters: cut it")
        cells = [clean(cell) for cell in line.split("\t")]
        if len(cells) != len(CAPTION_COLUMNS) or not all(cells):
            found = "an empty column" if len(cells) == len(CAPTION_COLUMNS) else f"{len(cells)} columns"
            raise UsageError(f"{where} line {number}: {found}, give {columns}")
        yield number, cells[0], cells[1]
    if not count:
        raise UsageError(f"{where}: no lines, give {columns}")


def _rows_by_name(pictures: Pictures) -> Mapping[str, int]:
    """Every name that pictures may be called by -> the row of the picture."""
    by_full_name = {full: row for row, full in enumerate(pictures.names)}
    rows: dict[str, int] = {}
    ambiguous: set[str] = set()
    for full, row in by_full_name.items():
        short = full.partition("/")[2]
        names = [short]
        if full.startswith(f"{PICTOGRAM_SET}/"):
            names += [emoji(short), emoji(short).removesuffix(EMOJI_PRESENTATION)]
        for name in dict.fromkeys(names):
            if name in rows:
                ambiguous.add(name)
            rows.setdefault(name, row)
    return {name: row for name, row in rows.items() if name not in ambiguous} | by_full_name
