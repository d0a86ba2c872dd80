"""BadUnits: the malformed lines and units of corpus files that were skipped, each once."""

import csv
from collections.abc import Iterator
from pathlib import Path

from index.errors import CorpusError
from index.formats.sentence import BadUnit

MOST_BAD = 100_000  # kept in memory


class BadUnits:
    """The bad units of some files, in the order in which they were read."""

    def __init__(self) -> None:
        self._units: dict[tuple[Path, BadUnit], None] = {}

    def __len__(self) -> int:
        return len(self._units)

    def __iter__(self) -> Iterator[str]:
        """Yield each as a line: `sentences.tsv, line 7: 3 cells, but line 1 names 2: mend the line`."""
        return (f"{path.name}, line {unit.line}: {unit.reason}" for path, unit in self._units)

    def add(self, path: Path, unit: BadUnit) -> None:
        """Add a unit. Raises CorpusError for more than MOST_BAD."""
        self._units[path, unit] = None
        if len(self._units) > MOST_BAD:
            raise CorpusError(f"{path}: more than {MOST_BAD} bad lines or units: check its --format")

    def first_of(self, path: Path) -> BadUnit | None:
        """The first bad unit of a file; None if it has none."""
        return next((unit for other, unit in self._units if other == path), None)

    def write(self, path: Path) -> None:
        """Write all units as a TSV with a header. Raises OSError."""
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, delimiter="\t", lineterminator="\n")
            table.writerow(["file", "line", "reason"])
            table.writerows([source.name, unit.line, unit.reason] for source, unit in self._units)
