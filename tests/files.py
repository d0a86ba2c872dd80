"""Files that many tests write: lines, tables, picture sets, an index of a table; what an index holds."""

import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from index.build.build_index import build_index
from index.encoder.bundle import Bundle
from index.formats.registry import Source
from index.storage.tables import SENTENCE_COLUMNS, read_table
from index.storage.versions import open_version


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    """Its folder too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def tsv(path: Path, rows: Iterable[Sequence[str]]) -> Path:
    return write_lines(path, map("\t".join, rows))


def jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    return write_lines(path, map(json.dumps, rows))


def write_picture_set(
    folder: Path, splits: Mapping[str, str], captions: Mapping[str, Iterable[Sequence[str]]]
) -> None:
    """A set without its pictures: each one's split, and for each language rows of picture, caption, kind."""
    tsv(folder / "splits.tsv", splits.items())
    for language, rows in captions.items():
        tsv(folder / "captions" / f"{language}.tsv", rows)


def zipped(*parts: tuple[str, str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A packed file of parts with names and contents."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as packed:
        for part in parts:
            packed.writestr(*part)
    return file.getvalue()


def index_of_table(bundle: Bundle, path: Path, rows: Iterable[Sequence[str]], **options: Any) -> Path:  # noqa: ANN401
    """An index beside this file, which gets these rows, the first of them the languages."""
    index = path.with_name("index")
    build_index(bundle, [Source(tsv(path, rows))], index, **options)
    return index


def texts(index: Path) -> dict[str, str]:
    """Id -> text of the version served."""
    folder, manifest = open_version(index)
    found = {}
    for code, entry in manifest.languages.items():
        table = read_table(folder / f"{code}.arrow", SENTENCE_COLUMNS, entry.sentences)
        found |= dict(zip(table.column("id").to_pylist(), table.column("text").to_pylist(), strict=True))
        assert entry.lines == entry.sentences + sum(entry.dropped.values())
    return found
