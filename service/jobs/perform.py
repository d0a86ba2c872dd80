"""Runs a job in a worker: a change, build or rollback of the index by the library, applied exactly once.

A worker may be killed at any moment and its job restarted. So a job saves the version that it changes, or
returns to, before it starts; the library recognises a version that was already made from it.
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
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from redis.exceptions import RedisError
from rq.timeouts import JobTimeoutException

from index.build.changes import change_index, rebuild_index
from index.build.maintenance import collect, roll_back
from index.build.previous_version import DELETED_BY_ID
from index.errors import BusyError, CorpusError, OutdatedError, PassepartoutError
from index.formats.bad_units import BadUnits
from index.formats.registry import Source
from index.formats.streams import READ_BYTES, open_stream
from index.progress import Progress, Step, heard_by
from index.storage.index_manifest import IndexManifest
from index.storage.manifest import read_manifest
from index.storage.versions import VERSIONS, current, version_before, versions
from index.teaching.report import Learned
from index.teaching.teach_index import teach_index
from service.jobs.record import Record
from service.jobs.spool import NO_SPACE, Spool
from service.schemas.jobs import (
    Add,
    Build,
    Collect,
    Delete,
    Event,
    NewSentence,
    Replace,
    Rollback,
    Spec,
    Taught,
    Teach,
)

log = logging.getLogger("passepartout.jobs")

Result = TypeVar("Result")

UNITS_SHOWN = 10  # bad ones, in an event
BUSY_RETRY_SECONDS = 0.5  # between attempts while something else changes the index
INLINE_FILE = "request.jsonl"  # the file name in the metadata of sentences sent in a request


class CancelledError(Exception):
    """The job was cancelled."""


@dataclass(frozen=True)
class Place:
    """The index and spool that jobs work on, their threads, and the most bytes of a decompressed corpus."""

    index: Path
    spool: Spool
    threads: int
    max_bytes: int


def perform(spec: Spec, record: Record, place: Place) -> None:
    """Run a job and append its outcome to its record. Raises RedisError if Redis does not answer."""
    if record.ended():  # finished by a worker that was presumed dead
        return
    job_run = _JobRun(spec, record, place)
    event = job_run.outcome()
    record.append(event)
    log.info("job %s: %s", event.state, spec.request.action)
    if event.state == "succeeded":
        for upload in getattr(spec.request, "uploads", ()):
            place.spool.remove(upload)


class _JobRun:
    """One run of a job."""

    def __init__(self, spec: Spec, record: Record, place: Place) -> None:
        self.spec, self.record, self.place = spec, record, place
        self.index = place.index
        self.private_folders: list[str] = []  # folders that error messages must not show
        self.names: dict[str, str] = {}  # what uploads are called here -> by their users
        self.bad: list[BadUnits] = []

    def outcome(self) -> Event:
        """Run the job and return its last event. Raises RedisError if Redis is away: it is then restarted."""
        try:
            self._report_stage("begun")
            with heard_by(self._report_progress):
                return self._dispatch()
        except CancelledError:
            return Event(state="cancelled")
        except RedisError:
            raise
        except PassepartoutError as error:
            return Event(state="failed", reason=self._without_paths(str(error)))
        except JobTimeoutException:
            return Event(state="failed", reason="not done in the time that a job gets: raise job_seconds")
        except Exception as error:
            if isinstance(error, OSError) and error.errno in NO_SPACE:
                return Event(
                    state="failed", reason="the worker's disk is full: free space, then send it again"
                )
            _log_exception(error)
            return Event(state="failed", reason="an error of the service: the worker's log has the details")

    def _dispatch(self) -> Event:
        match self.spec.request:
            case Add() | Replace() as request:
                return self._add_or_replace(request)
            case Delete(ids=ids):
                return self._apply(lambda base: self._change_index(base, delete=ids))
            case Build(uploads=uploads):
                return self._build(uploads)
            case Rollback(version=version):
                target = self._remembered("target", lambda: version or version_before(self.index))
                self._retry_while_busy(lambda: roll_back(self.index, target))
                return Event(state="succeeded", version=target)
            case Collect(keep=keep):
                self._retry_while_busy(lambda: collect(self.index, keep))
                return Event(state="succeeded", version=current(self.index))
            case Teach() as request:
                return self._teach(request)

    def _teach(self, request: Teach) -> Event:
        base = self._remembered("base", lambda: current(self.index))
        captions = [(caption.picture, caption.text) for caption in request.captions]
        manifest, learned = self._retry_while_busy(
            lambda: teach_index(self.index, request.language, captions, base=base, job=self.record.events)
        )
        taught = _taught(learned) if learned else None
        return Event(state="succeeded", version=manifest.version, taught=taught)

    def _add_or_replace(self, request: Add | Replace) -> Event:
        with self._sources(request) as sources:
            if isinstance(request, Replace):
                return self._apply(lambda base: self._change_index(base, replace=sources))
            own_ids = request.own_ids or bool(request.sentences)
            return self._apply(lambda base: self._change_index(base, add=sources, own_ids=own_ids))

    def _build(self, uploads: Sequence[str]) -> Event:
        sources, threads = self._bounded_sources(uploads), self.place.threads
        return self._apply(
            lambda base: rebuild_index(
                self.index, sources, threads=threads, base=base, job=self.record.events
            )
        )

    def _change_index(self, base: str, **changes: object) -> IndexManifest:
        return change_index(
            self.index,
            threads=self.place.threads,
            base=base,
            job=self.record.events,
            **changes,  # type: ignore[arg-type]
        )

    def _apply(self, change: Callable[[str], IndexManifest]) -> Event:
        """Change the version served when the job first started, or a later one if that is gone."""
        while True:
            base = self._remembered("base", lambda: current(self.index))
            if base in versions(self.index):
                try:
                    manifest = self._retry_while_busy(lambda base=base: change(base))  # type: ignore[misc]
                    return Event(
                        state="succeeded",
                        version=manifest.version,
                        dropped=self._dropped_by_reason(manifest) or None,
                        skipped=sum(map(len, self.bad)) or None,
                        skipped_units=self._skipped_units() or None,
                    )
                except OutdatedError:
                    log.info("version %s is no longer served: changing the current one", base)
            self.record.save_value("base", current(self.index))

    def _dropped_by_reason(self, manifest: IndexManifest) -> dict[str, int]:
        """How many of the new sentences cleaning dropped, by reason."""
        counts = Counter[str]()
        for entry in manifest.languages.values():
            counts.update(entry.dropped)
        before = _manifest_of(self.index, manifest.base)
        for entry in before.languages.values() if before else ():
            counts.subtract(entry.dropped)
        return {reason: count for reason, count in counts.items() if count > 0 and reason != DELETED_BY_ID}

    def _skipped_units(self) -> list[str]:
        units = islice(chain.from_iterable(self.bad), UNITS_SHOWN)
        return [self._without_paths(unit) for unit in units]

    def _retry_while_busy(self, act: Callable[[], Result]) -> Result:
        """Call `act` until no other build holds the index."""
        while True:
            try:
                return act()
            except BusyError:
                self._report_stage("waiting for another build")
                time.sleep(BUSY_RETRY_SECONDS)

    def _remembered(self, name: str, first: Callable[[], str]) -> str:
        """A value saved when the job first started; computed by `first` and saved if there is none."""
        value = self.record.saved_value(name)
        if value is None:
            value = first()
            self.record.save_value(name, value)
        return value

    @contextmanager
    def _sources(self, request: Add | Replace) -> Iterator[list[Source]]:
        if request.uploads:
            yield self._bounded_sources(request.uploads)
            return
        with tempfile.TemporaryDirectory(prefix="passepartout-job-") as folder:
            self.private_folders.append(f"{folder}/")
            path = Path(folder) / INLINE_FILE
            path.write_text("".join(map(_json_line, request.sentences)), "utf-8")
            yield [Source(path)]

    def _bounded_sources(self, uploads: Sequence[str]) -> list[Source]:
        """The files of `uploads`. CorpusError if one is longer than `max_bytes` decompressed."""
        sources = [self.place.spool.source(upload) for upload in dict.fromkeys(uploads)]
        self.private_folders += [f"{source.path.parent}/" for source in sources]
        self.bad = [source.bad for source in sources if source.bad is not None]
        uploaded = [upload for name in uploads if (upload := self.place.spool.find(name))]
        self.names = {upload.file: upload.name for upload in uploaded if upload.name}
        for source in sources:
            _check_length(source.path, self.place.max_bytes)
        return sources

    def _report_progress(self, step: Step) -> None:
        with suppress(RedisError):  # the job continues while Redis is away
            self._raise_if_cancelled()
            self.record.append(
                Event(state="running", stage=step.label, done=step.done, total=step.total, unit=step.unit)
            )

    def _raise_if_cancelled(self) -> None:
        """Raise CancelledError if the job was cancelled."""
        if self.record.saved_value("cancelled"):
            raise CancelledError

    def _report_stage(self, stage: str) -> None:
        self._raise_if_cancelled()
        self.record.append(Event(state="running", stage=stage))

    def _without_paths(self, reason: str) -> str:
        """An error message in one line, without the folders of this machine."""
        for folder in self.private_folders:
            reason = reason.replace(folder, "")
        for file, name in self.names.items():
            reason = reason.replace(file, name)
        return " ".join(reason.replace(str(self.index), "the index").split())


def _manifest_of(index: Path, version: str | None) -> IndexManifest | None:
    """The manifest of a version; None if it does not exist or was removed."""
    if version is None or version not in versions(index):
        return None
    return read_manifest(index / VERSIONS / version, IndexManifest, "a version of an index")


def _taught(learned: Learned) -> Taught:
    score = learned.recalls.get("captions")
    return Taught(
        language=learned.code,
        lines=sum(learned.lines.values()),
        asked=score.lines if score else 0,
        r10=round(score.r10, 1) if score else None,
        chance=round(score.chance[1], 1) if score else None,
        next_pictures=list(learned.next_pictures),
    )


def _json_line(sentence: NewSentence) -> str:
    """A sentence of a request as a line of JSON Lines (index/formats/rows.py)."""
    code, _, name = sentence.id.partition(":")
    row = {"id": name, "language": code, "text": sentence.text, "metadata": sentence.metadata}
    if sentence.group is not None:
        row["group"] = sentence.group
    return json.dumps(row, ensure_ascii=False) + "\n"


def _check_length(path: Path, max_bytes: int) -> None:
    """Raise CorpusError for more than `max_bytes` decompressed bytes, or for what `open_stream` refuses."""
    size = path.stat().st_size
    with Progress(size, unit="bytes", label="check") as bar, open_stream(path) as file:
        read = 0
        while block := file.read(READ_BYTES):
            read += len(block)
            if read > max_bytes:
                raise CorpusError(f"{path}: longer than {max_bytes} bytes, decompressed: divide it")
            bar.advance(max(0, min(read, size) - bar.done))


def _log_exception(error: Exception) -> None:
    """Log the type and traceback of an exception without its message, which may quote user data."""
    frames = traceback.extract_tb(error.__traceback__)
    locations = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    log.error("fault", extra={"fields": {"error": type(error).__name__, "at": locations}})
