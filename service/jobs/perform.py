"""What a job does, in a worker: the library's own changes, builds, rollbacks, each of which is done once.

A worker may be killed at any moment and its job begun again. So a job notes the version that it changes, or
goes back to, before it begins; the library finds a version that was made of that already.
"""

import json
import logging
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from redis.exceptions import RedisError
from rq.timeouts import JobTimeoutException

from index.build.changes import change_index, rebuild_index
from index.build.maintenance import collect, roll_back
from index.build.previous_version import DELETED
from index.errors import BusyError, CorpusError, OutdatedError, PassepartoutError
from index.formats.registry import Source
from index.formats.streams import BLOCK, open_stream
from index.progress import Progress, Step, heard_by
from index.storage.index_manifest import IndexManifest
from index.storage.manifest import read_manifest
from index.storage.versions import VERSIONS, current, version_before, versions
from service.jobs.record import Record
from service.jobs.schemas import Add, Build, Collect, Delete, Event, NewSentence, Replace, Rollback, Spec
from service.jobs.spool import Spool

log = logging.getLogger("passepartout.jobs")

Result = TypeVar("Result")

BETWEEN_TRIES = 0.5  # seconds, while something else changes the index
INLINE = "request.jsonl"  # what metadata call sentences that came in a request


class CancelledError(Exception):
    """The job was cancelled."""


@dataclass(frozen=True)
class Place:
    """Where jobs work, with how many threads; no corpus may be longer than `max_bytes` bytes."""

    index: Path
    spool: Spool
    threads: int
    max_bytes: int


def perform(spec: Spec, record: Record, place: Place) -> None:
    """Do a job and tell its record how it went. Raises RedisError where that cannot be told."""
    if record.ended():  # by a worker that was taken for dead
        return
    work = _Work(spec, record, place)
    event = work.outcome()
    record.tell(event)
    log.info("job %s: %s", event.state, spec.request.action)
    if event.state == "succeeded":
        for upload in getattr(spec.request, "uploads", ()):
            place.spool.remove(upload)


class _Work:
    """One job."""

    def __init__(self, spec: Spec, record: Record, place: Place) -> None:
        self.spec, self.record, self.place = spec, record, place
        self.index = place.index
        self.private: list[str] = []  # folders that are nobody's business

    def outcome(self) -> Event:
        """Raises RedisError where Redis is away: then the job is begun again."""
        try:
            self._tell("begun")
            with heard_by(self._heard):
                return self._do()
        except CancelledError:
            return Event(state="cancelled")
        except RedisError:
            raise
        except PassepartoutError as error:
            return Event(state="failed", reason=self._public(str(error)))
        except JobTimeoutException:
            return Event(state="failed", reason="not done in the time that a job gets: raise job_seconds")
        except Exception as error:
            _log_fault(error)
            return Event(state="failed", reason="a fault of the service: the worker's log has the details")

    def _do(self) -> Event:
        match self.spec.request:
            case Add() | Replace() as request:
                return self._put(request)
            case Delete(ids=ids):
                return self._changed(lambda base: self._change(base, delete=ids))
            case Build(uploads=uploads):
                return self._build(uploads)
            case Rollback(version=version):
                target = self._noted("target", lambda: version or version_before(self.index))
                self._once_free(lambda: roll_back(self.index, target))
                return Event(state="succeeded", version=target)
            case Collect(keep=keep):
                self._once_free(lambda: collect(self.index, keep))
                return Event(state="succeeded", version=current(self.index))

    def _put(self, request: Add | Replace) -> Event:
        with self._sources(request) as sources:
            if isinstance(request, Replace):
                return self._changed(lambda base: self._change(base, replace=sources))
            own_ids = request.own_ids or bool(request.sentences)
            return self._changed(lambda base: self._change(base, add=sources, own_ids=own_ids))

    def _build(self, uploads: Sequence[str]) -> Event:
        sources, threads = self._checked(uploads), self.place.threads
        return self._changed(lambda base: rebuild_index(self.index, sources, threads=threads, since=base))

    def _change(self, base: str, **changes: object) -> IndexManifest:
        return change_index(self.index, threads=self.place.threads, base=base, **changes)  # type: ignore[arg-type]

    def _changed(self, change: Callable[[str], IndexManifest]) -> Event:
        """Make a change of the version that was served when the job was first begun, else of a later one."""
        while True:
            base = self._noted("base", lambda: current(self.index))
            if base in versions(self.index):
                try:
                    made = self._once_free(lambda base=base: change(base))  # type: ignore[misc]
                    return Event(state="succeeded", version=made.version, dropped=self._dropped(made) or None)
                except OutdatedError:
                    log.info("version %s is served no longer: what is now is changed", base)
            self.record.note("base", current(self.index))

    def _dropped(self, made: IndexManifest) -> dict[str, int]:
        """What cleaning left out of that which came to the version that was changed, by reason."""
        counts = Counter[str]()
        for entry in made.languages.values():
            counts.update(entry.dropped)
        before = _manifest(self.index, made.base)
        for entry in before.languages.values() if before else ():
            counts.subtract(entry.dropped)
        return {reason: count for reason, count in counts.items() if count > 0 and reason != DELETED}

    def _once_free(self, act: Callable[[], Result]) -> Result:
        """Do it when nothing else changes the index."""
        while True:
            try:
                return act()
            except BusyError:
                self._tell("waiting for another build")
                time.sleep(BETWEEN_TRIES)

    def _noted(self, name: str, first: Callable[[], str]) -> str:
        """A value as it was when the job was first begun."""
        value = self.record.noted(name)
        if value is None:
            value = first()
            self.record.note(name, value)
        return value

    @contextmanager
    def _sources(self, request: Add | Replace) -> Iterator[list[Source]]:
        if request.uploads:
            yield self._checked(request.uploads)
            return
        with tempfile.TemporaryDirectory(prefix="passepartout-job-") as folder:
            self.private.append(f"{folder}/")
            path = Path(folder) / INLINE
            path.write_text("".join(map(_line, request.sentences)), "utf-8")
            yield [Source(path)]

    def _checked(self, uploads: Sequence[str]) -> list[Source]:
        """The files of uploads, none of which grows beyond what a corpus may have."""
        sources = [self.place.spool.source(upload) for upload in dict.fromkeys(uploads)]
        self.private += [f"{source.path.parent}/" for source in sources]
        for source in sources:
            _check_length(source.path, self.place.max_bytes)
        return sources

    def _heard(self, step: Step) -> None:
        with suppress(RedisError):  # work goes on where Redis is away for a while
            self._heed()
            self.record.tell(
                Event(state="running", stage=step.label, done=step.done, total=step.total, unit=step.unit)
            )

    def _heed(self) -> None:
        """CancelledError where the job was cancelled."""
        if self.record.noted("cancelled"):
            raise CancelledError

    def _tell(self, stage: str) -> None:
        self._heed()
        self.record.tell(Event(state="running", stage=stage))

    def _public(self, reason: str) -> str:
        """One line without the folders of this machine."""
        for folder in self.private:
            reason = reason.replace(folder, "")
        return " ".join(reason.replace(str(self.index), "the index").split())


def _manifest(index: Path, version: str | None) -> IndexManifest | None:
    """None where there is no such version, or no longer."""
    if version is None or version not in versions(index):
        return None
    return read_manifest(index / VERSIONS / version, IndexManifest, "a version of an index")


def _line(sentence: NewSentence) -> str:
    """A sentence of a request as a line of JSON Lines (index/formats/rows.py)."""
    code, _, name = sentence.id.partition(":")
    row = {"id": name, "language": code, "text": sentence.text, "metadata": sentence.metadata}
    if sentence.group is not None:
        row["group"] = sentence.group
    return json.dumps(row, ensure_ascii=False) + "\n"


def _check_length(path: Path, max_bytes: int) -> None:
    """CorpusError for more than `max_bytes` bytes, decompressed; what streams refuse is refused here too."""
    size = path.stat().st_size
    with Progress(size, unit="bytes", label="check") as bar, open_stream(path) as file:
        read = 0
        while block := file.read(BLOCK):
            read += len(block)
            if read > max_bytes:
                raise CorpusError(f"{path}: longer than {max_bytes} bytes, decompressed: divide it")
            bar.advance(max(0, min(read, size) - bar.done))


def _log_fault(error: Exception) -> None:
    """Where it happened and what it was, without its message, which may hold what the user sent."""
    frames = traceback.extract_tb(error.__traceback__)
    at = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    log.error("fault", extra={"fields": {"error": type(error).__name__, "at": at}})
