"""Inputs: the corpus files of a build, recorded when it begins and checked before it publishes.

A build reads a file several times: to hash it, to find its languages, and once for each language. If the file
changed in between, the result would correspond to no state of it.
"""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from index.errors import CorpusError
from index.formats.registry import Source, format_of
from index.storage.files import replace_text, sha256

INPUTS_FILE = "inputs.json"  # in the folder of a build's parts: the state of each file when the build began
# Parts that record themselves which texts they belong to.
SELF_DESCRIBING_PARTS = frozenset({".vectors", ".journal"})

State = tuple[int, ...]


@dataclass
class Inputs:
    """The files of some sources: size, times and inode at the beginning, and checksums once computed."""

    states: dict[Path, State]
    checksums: dict[Path, str] = field(default_factory=dict)

    @classmethod
    def of(cls, sources: Iterable[Source]) -> "Inputs":
        """Record the present state of the files. Raises CorpusError for a file that cannot be read."""
        return cls({source.path: _state(source.path) for source in sources})

    def fingerprints(self, sources: Mapping[str, Sequence[Source]]) -> list[object]:
        """Identify the content of each language's files, as JSON. CorpusError for one that cannot be read."""
        self.checksums = {path: _sha256(path) for path in self.states}
        return [
            [code, [_described(source, self.checksums[source.path]) for source in files]]
            for code, files in sources.items()
        ]

    def check(self) -> None:
        """Raise CorpusError for a file whose size, modification time or checksum has changed."""
        for path, before in self.states.items():
            if _state(path)[:2] != before[:2] or _sha256(path) != self.checksums[path]:
                raise CorpusError(f"{path}: changed while it was read: repeat the command")

    def resume(self, work: Path, parts: Path) -> None:
        """Discard what a killed build made if any of the files was touched since it began."""
        record = json.dumps({str(path): state for path, state in self.states.items()})
        path = parts / INPUTS_FILE
        if not path.exists() or path.read_text("utf-8") != record:
            forget(work, parts)
            replace_text(path, record)


def forget(work: Path, parts: Path) -> None:
    """Remove what a build has made, except vectors, which are checked against their texts before use."""
    for path in (*work.iterdir(), *parts.iterdir()):
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix not in SELF_DESCRIBING_PARTS:
            path.unlink()


def _described(source: Source, checksum: str) -> tuple[object, ...]:
    return source.path.name, format_of(source), checksum, *source.columns


def _state(path: Path) -> State:
    try:
        status = path.stat()
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror})") from error
    # The change time cannot be set back, so it reveals a file that was replaced and restored.
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _sha256(path: Path) -> str:
    try:
        return sha256(path)
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror})") from error
