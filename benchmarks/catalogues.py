"""PO files as localisers have them: how many are read, stay as they are, and are valid once filled.

    pip download --no-deps --dest var/wheels 'django<6'
    python -m benchmarks.catalogues var/wheels/*.whl

Takes wheels, zip files and folders. Counts only what GNU's msgfmt accepts. "Filled" gives every empty entry a
translation, every second one a fuzzy one.
"""

import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from index.errors import PassepartoutError
from index.formats.document import Filling
from index.formats.registry import Source, open_document, read

ACCEPTED = "accepted by msgfmt"
READ, IDENTICAL, VALID = "read", "identical when nothing is filled", "valid when all is filled"
OUTCOMES = ("in all", ACCEPTED, READ, IDENTICAL, VALID)
CHECK = ("msgfmt", "--check-format", "--check-domain", "--output-file=/dev/null", "-")


def catalogues(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of every PO file of a folder or zip file."""
    if path.is_dir():
        yield from ((str(file), file.read_bytes()) for file in sorted(path.rglob("*.po")))
        return
    with zipfile.ZipFile(path) as packed:
        yield from ((name, packed.read(name)) for name in packed.namelist() if name.endswith(".po"))


def is_valid(content: bytes) -> bool:
    return subprocess.run(CHECK, input=content, capture_output=True, check=False).returncode == 0


def outcomes(content: bytes, file: Path) -> Iterator[str]:
    """Yield what is true of a catalogue that msgfmt accepts."""
    file.write_bytes(content)
    languages = {one.language for one in read(Source(file, "de"))} - {"en"}
    yield READ
    document = open_document(content, file.name, next(iter(languages), "en"))
    if document.content() == content:
        yield IDENTICAL
    for number, unit in enumerate(document.units):
        document.fill(unit, Filling(unit.text, fuzzy=number % 2 == 1, original="another"))
    if is_valid(document.content()):
        yield VALID


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(paths: tuple[Path, ...]) -> None:
    """Read, copy and fill every PO file in PATHS."""
    counts = Counter[str]()
    with TemporaryDirectory() as folder:
        for path in paths:
            for name, content in catalogues(path):
                counts["in all"] += 1
                if is_valid(content):
                    counts[ACCEPTED] += 1
                    try:
                        counts.update(outcomes(content, Path(folder) / "catalogue.po"))
                    except PassepartoutError as error:
                        click.echo(f"{name}: {error}", err=True)
    for outcome in OUTCOMES:
        click.echo(f"{counts[outcome]:6,}  {outcome}")
    sys.exit(any(counts[outcome] < counts[ACCEPTED] for outcome in OUTCOMES))


if __name__ == "__main__":
    main()
