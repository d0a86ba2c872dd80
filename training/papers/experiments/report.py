"""The report of an experiment: report.json for programs, report.md for people."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evaluation.reports import document
from evaluation.reports.document import Block, Code, Heading, Text


def write_experiment(
    out: Path, title: str, command: str, facts: Mapping[str, Any], blocks: Sequence[Block]
) -> None:
    """Write `out`/report.json with `facts` and `out`/report.md with `blocks`. UsageError if that can't be."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    found = {"experiment": title, "command": command, "date": date, **facts}
    content = json.dumps(found, ensure_ascii=False, indent=2) + "\n"
    every = [Heading(1, title), Text((f"date: {date}",), listed=True), Code(command), *blocks]
    document.write(out, {"report.json": content, "report.md": document.as_markdown(every)}, every)
