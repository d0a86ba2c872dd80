"""Reads shards of captioned pictures from front to back: tar (as WebDataset writes it) and Parquet.

SHARD.tar       members of one sample stand together and share their name up to the first dot: a picture
                (.jpg, .jpeg, .png, .webp), and NAME.json, {"en": ["a caption", ...], ...}, or NAME.LANG.txt,
                a caption a line
SHARD.parquet   a row a picture: name (string), image (binary), and a column a language (string, or list of
                strings), null where there is none
"""

import json
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from index.errors import DataError

PICTURE_EXTENSIONS = (".jpg", ".jpeg", ".png", ".webp")
PARQUET_ROWS = 256  # read at a time


@dataclass
class Sample:
    """An encoded picture and its captions by language; `picture` is b"" if it was not read."""

    name: str
    picture: bytes | None = None
    captions: dict[str, tuple[str, ...]] = field(default_factory=dict)


def find_shards(folder: Path) -> list[Path]:
    """The shards of a folder, by name. DataError if there are none."""
    shards = sorted(file for file in folder.glob("*") if file.suffix in (".tar", ".parquet"))
    if not shards:
        raise DataError(f"{folder} holds no .tar or .parquet file; docs/data.md describes shards")
    return shards


def read_shard(file: Path, languages: Sequence[str], *, pictures: bool = True) -> Iterator[Sample]:
    """Yield the samples with captions in these languages, in the file's order, a few in memory at a time.

    Without `pictures` the pictures are skipped. DataError names a file that cannot be read.
    """
    read = _read_tar if file.suffix == ".tar" else _read_parquet
    try:
        for sample in read(file, languages, pictures):
            if sample.captions:
                yield sample
    except (OSError, tarfile.TarError, pa.ArrowException, ValueError) as error:
        raise DataError(f"{file} can't be read as a shard: {error}") from None


def _read_tar(file: Path, languages: Sequence[str], pictures: bool) -> Iterator[Sample]:
    sample = None
    with tarfile.open(file, "r:") as tar:
        for member in tar:
            tar.members = []  # type: ignore[attr-defined]  # or it would keep them all
            if not member.isfile():
                continue
            # Not by pathlib, which interns every name: a table of millions.
            name, _, kind = member.name.rpartition("/")[2].partition(".")
            if sample is None or sample.name != name:
                if sample:
                    yield sample
                sample = Sample(name)
            _take(sample, tar, member, kind.lower(), languages, pictures)
    if sample:
        yield sample


def _take(
    sample: Sample,
    tar: tarfile.TarFile,
    member: tarfile.TarInfo,
    kind: str,
    languages: Sequence[str],
    pictures: bool,
) -> None:
    """Add the content of a tar member to the sample."""
    language = kind.removesuffix(".txt")
    if "." + kind in PICTURE_EXTENSIONS:
        sample.picture = _content(tar, member) if pictures else b""
    elif kind == "json":
        captions = json.loads(_content(tar, member))
        if not isinstance(captions, dict):
            raise ValueError(f"{member.name} is not an object of languages")
        sample.captions |= {code: texts for code in languages if (texts := _texts(captions.get(code)))}
    elif kind.endswith(".txt"):
        codes = [code for code in languages if code.lower() == language]
        lines = _texts(_content(tar, member).decode("utf-8").splitlines())
        sample.captions |= {code: lines for code in codes if lines}


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    opened = tar.extractfile(member)
    assert opened is not None, "a plain file"
    return opened.read()


def _texts(value: object) -> tuple[str, ...]:
    """Turn a string or a list of strings into non-empty captions of one line each."""
    texts = [value] if isinstance(value, str) else value or []
    if not isinstance(texts, list):
        raise ValueError(f"{texts!r} where a caption or a list of them should be")
    return tuple(line for text in texts if (line := " ".join(str(text).split())))


def _read_parquet(file: Path, languages: Sequence[str], pictures: bool) -> Iterator[Sample]:
    with pq.ParquetFile(file) as table:
        column_names = set(table.schema_arrow.names)
        if missing := {"name", "image"} - column_names:
            raise DataError(f"{file} has no column {sorted(missing)[0]}; docs/data.md describes shards")
        codes = [code for code in languages if code in column_names]
        columns = ["name", *(["image"] if pictures else []), *codes]
        for batch in table.iter_batches(PARQUET_ROWS, columns=columns):
            for row in batch.to_pylist():
                captions = {code: texts for code in codes if (texts := _texts(row[code]))}
                yield Sample(str(row["name"]), row["image"] if pictures else b"", captions)
