"""Drawn shards: what the tests of streams read."""

import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Captions = Mapping[str, Sequence[str]]
Samples = Mapping[str, tuple[bytes | None, Captions]]


def write_tar_shard(file: Path, samples: Samples, *, text_files: bool = False) -> None:
    """WebDataset's layout, captions as JSON or as a text file a language."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w") as tar:
        for name, (picture, captions) in samples.items():
            members = {f"{name}.jpg": picture} if picture is not None else {}
            if text_files:
                members |= {f"{name}.{code}.txt": "\n".join(c).encode() for code, c in captions.items()}
            else:
                members[f"{name}.json"] = json.dumps(dict(captions)).encode()
            for member, content in members.items():
                entry = tarfile.TarInfo(member)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))


def write_parquet_shard(file: Path, samples: Samples, languages: Sequence[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    columns = {
        "name": pa.array(list(samples), pa.string()),
        "image": pa.array([picture for picture, _ in samples.values()], pa.binary()),
    }
    for code in languages:
        rows = [list(captions.get(code, ())) or None for _, captions in samples.values()]
        columns[code] = pa.array(rows, pa.list_(pa.string()))
    pq.write_table(pa.table(columns), file, row_group_size=50)
