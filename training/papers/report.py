"""The report of an experiment with a frozen encoder, for people and for programs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evaluation.reports import document
from evaluation.reports.document import Block, Code, Grid, Heading, Text, text
from index.errors import UsageError
from index.storage.files import replace_text


@dataclass(frozen=True)
class ExperimentReport:
    """What an experiment found.

    note: what was done, and what the figures mean. figures: system -> figure -> value; systems have the same
    figures. facts: what report.json has besides; parts: what report.md has.
    """

    title: str
    note: str
    figures: Mapping[str, Mapping[str, float]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    parts: Sequence[Block] = ()

    def lines(self) -> list[str]:
        """The figures, a line a system."""
        return [
            f"{system}: " + ", ".join(f"{name} {value:.2f}" for name, value in figures.items())
            for system, figures in self.figures.items()
        ]

    def write(self, out: Path, command: str) -> None:
        """Write report.json and report.md into `out`. UsageError if it is not writable."""
        date = datetime.now(UTC).isoformat(timespec="seconds")
        content = {"experiment": self.title, "command": command, "date": date, "figures": self.figures}
        heads: list[Block] = [Heading(1, self.title), Text((f"date: {date}",), True), Code(command)]
        page = [*heads, text(self.note), grid("", self.figures), *self.parts]
        try:
            out.mkdir(parents=True, exist_ok=True)
            described = json.dumps({**content, **self.facts}, ensure_ascii=False, indent=2)
            replace_text(out / "report.json", described + "\n")
            replace_text(out / "report.md", document.as_markdown(page))
        except OSError as error:
            raise UsageError(f"{out} cannot be written ({error.strerror}): give another --out") from error


def grid(corner: str, rows: Mapping[str, Mapping[str, float]]) -> Grid:
    """A table of figures to one decimal: a row each, a column for every figure that any has."""
    columns = list(dict.fromkeys(name for figures in rows.values() for name in figures))
    cells = [
        [name, *(f"{figures[key]:.1f}" if key in figures else "–" for key in columns)]
        for name, figures in rows.items()
    ]
    return Grid([corner, *columns], cells)
