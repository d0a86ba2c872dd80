"""The shards of a language: texts to vectors, kept in files from which a killed build resumes.

A shard holds SHARD_LINES lines of a corpus. Its vectors are appended to LANG.vectors, then a line about it to
LANG.journal: digest of its texts, which of them are in another language, rows, CRC-32 of the vectors. A
shard that the journal has, of the same texts and with vectors that are as they were written, is not encoded
again. The division into shards depends only on the corpus, so the vectors do not depend on who encodes them.
"""

import json
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from hashlib import blake2b
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from index.build.job import Job
from index.build.process_pool import Encoded, ProcessPool, done, result_of
from index.encoder.vectors import Vectors
from index.errors import DamagedError
from index.storage.files import replace_text

SHARD_LINES = 8192  # lines of a corpus


@dataclass(frozen=True)
class Shard:
    """A shard whose texts are being encoded."""

    number: int
    digest: str
    encoded: "Future[Encoded]"


class Shards:
    """The shards of one language, which are begun and finished in the order of the corpus."""

    def __init__(self, job: Job, code: str, pool: ProcessPool) -> None:
        self._code, self._pool = code, pool
        self._width = 4 * job.encoder.dimension  # bytes of a row
        self._vectors, self._journal = job.part(f"{code}.vectors"), job.part(f"{code}.journal")
        self._known = _read_journal(self._journal)
        self._begun = self._rows = 0

    def __enter__(self) -> "Shards":
        self._file = self._vectors.open("r+b" if self._vectors.exists() else "w+b")
        self._forget(len(self._known))
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def begin(self, texts: Sequence[str], check_language: bool) -> Shard:
        """Start encoding the texts of the next shard, unless the journal has it; foreign ones are left out if
        `check_language`."""
        number, digest = self._begun, _digest(texts)
        self._begun += 1
        if number < len(self._known) and self._known[number]["digest"] == digest and self._holds(number):
            foreign = set(self._known[number]["foreign"])
            return Shard(number, digest, done(Encoded([row in foreign for row in range(len(texts))], None)))
        if number < len(self._known):
            self._forget(number)
        return Shard(number, digest, self._pool.encode(self._code, texts, check_language))

    def finish(self, shard: Shard, rows: int, kept: Callable[[Vectors], Vectors]) -> None:
        """Append the vectors of `rows` rows, which `kept` selects from those of the shard's texts (n, d).

        Raises DamagedError if the journal has another number of rows.
        """
        encoded = result_of(shard.encoded)
        if encoded.vectors is None:
            if self._known[shard.number]["rows"] != rows:
                raise DamagedError(f"{self._vectors.parent}: not of this corpus: remove this folder")
        else:
            content = np.ascontiguousarray(kept(encoded.vectors), np.float32).data
            self._file.seek(self._rows * self._width)
            self._file.write(content)
            self._file.flush()
            foreign = list(compress(range(len(encoded.foreign)), encoded.foreign))
            self._note(digest=shard.digest, foreign=foreign, rows=rows, crc=zlib.crc32(content))
        self._rows += rows

    def close(self) -> None:
        """Cut off what the file has after the vectors of the last shard."""
        self._file.truncate(self._rows * self._width)

    def _holds(self, number: int) -> bool:
        """Whether the stored vectors of a shard have the checksum that the journal says."""
        self._file.seek(sum(entry["rows"] for entry in self._known[:number]) * self._width)
        entry = self._known[number]
        return bool(zlib.crc32(self._file.read(entry["rows"] * self._width)) == entry["crc"])

    def _forget(self, number: int) -> None:
        """Remove this shard and all later ones from the journal."""
        self._known = self._known[:number]
        replace_text(self._journal, "".join(json.dumps(entry) + "\n" for entry in self._known))

    def _note(self, **entry: object) -> None:
        with self._journal.open("a") as file:
            file.write(json.dumps(entry) + "\n")


def _read_journal(path: Path) -> list[dict[str, Any]]:
    """The entries of a journal, up to the first line that is incomplete."""
    entries: list[dict[str, Any]] = []
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else []:
        try:
            entry = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            entry = None
        if not isinstance(entry, dict) or set(entry) != {"digest", "foreign", "rows", "crc"}:
            break
        entries.append(entry)
    return entries


def _digest(texts: Sequence[str]) -> str:
    every = "\n".join(texts).encode("utf-8", "surrogatepass")
    return blake2b(every, digest_size=16).hexdigest()
