"""The corpus files of a build: what they are when it begins, and whether they still are when it publishes.

A build reads a file several times: to hash it, to see its languages, for each of these. If it changes
meanwhile, what is made is of no file that ever was.
"""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from index.errors import CorpusError
from index.formats.registry import Source, format_of
from index.storage.files import replace_text, sha256

RECORD = (
    "inputs.json"  # in the folder of a build's parts: the state of each file when what is there was begun
)
ENCODED = frozenset({".vectors", ".journal"})  # parts that say themselves of which texts they are

State = tuple[int, ...]


@dataclass
class Inputs:
    """The files of some sources: size, times and inode when this was made, checksums once asked for."""

    states: dict[Path, State]
    checksums: dict[Path, str] = field(default_factory=dict)

    @classmethod
    def of(cls, sources: Iterable[Source]) -> "Inputs":
        """CorpusError for a file that cannot be read."""
        return cls({source.path: _state(source.path) for source in sources})

    def fingerprints(self, sources: Mapping[str, Sequence[Source]]) -> list[object]:
        """What stands for the files of each language. CorpusError for one that cannot be read."""
        self.checksums = {path: _sha256(path) for path in self.states}
        return [
            [code, [_described(source, self.checksums[source.path]) for source in files]]
            for code, files in sources.items()
        ]

    def check(self) -> None:
        """CorpusError for a file of another size, modification time or checksum than at first."""
        for path, before in self.states.items():
            if _state(path)[:2] != before[:2] or _sha256(path) != self.checksums[path]:
                raise CorpusError(f"{path}: changed while it was read: repeat the command")

    def resume(self, work: Path, parts: Path) -> None:
        """Forget what a killed build made, unless nobody has touched these files since it began."""
        record = json.dumps({str(path): state for path, state in self.states.items()})
        known = parts / RECORD
        if not known.exists() or known.read_text("utf-8") != record:
            forget(work, parts)
            replace_text(known, record)


def forget(work: Path, parts: Path) -> None:
    """Remove what a build has made but vectors, which are checked against their texts when they are used."""
    for path in (*work.iterdir(), *parts.iterdir()):
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix not in ENCODED:
            path.unlink()


def _described(source: Source, checksum: str) -> tuple[object, ...]:
    return source.path.name, format_of(source), checksum, *source.columns


def _state(path: Path) -> State:
    try:
        status = path.stat()
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror})") from error
    # The change time cannot be set back, so it shows a file that was replaced by an older one and put back.
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _sha256(path: Path) -> str:
    try:
        return sha256(path)
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror})") from error
