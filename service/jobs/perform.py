"""Runs a job in a worker: a change, build or rollback of the index by the library, applied exactly once.

A worker may be killed at any moment and its job restarted. So a job saves the version that it changes, or
returns to, before it starts; the library recognises a version that was already made from it.
"""

import json
import logging
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from redis.exceptions import RedisError
from rq.timeouts import JobTimeoutException

from index.build.changes import change_index, rebuild_index
from index.build.maintenance import collect, roll_back
from index.build.previous_version import DELETED_BY_ID
from index.errors import BusyError, CorpusError, OutdatedError, PassepartoutError, UsageError
from index.formats.registry import Source
from index.formats.sentence import BadUnits
from index.formats.streams import READ_BYTES, open_stream
from index.progress import Progress, ProgressStep, heard_by
from index.storage.index_manifest import IndexManifest
from index.storage.versions import current, manifest_of, version_before, versions
from index.teaching.learn_language import teach_index
from index.teaching.report import Learned
from service import limits
from service.jobs.queue import Record
from service.jobs.spool import NO_SPACE, Spool
from service.observability.logs import log_exception
from service.schemas.jobs import (
    END_STATES,
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
from service.settings import Settings

log = logging.getLogger("passepartout.jobs")

Result = TypeVar("Result")

UNITS_SHOWN = 10  # bad ones, in an event
BUSY_RETRY_SECONDS = 0.5  # between attempts while something else changes the index
INLINE_FILE = "request.jsonl"  # the file name in the metadata of sentences sent in a request
SERVICE_ERROR = "an error of the service: the worker's log has the details"


class CancelledError(Exception):
    """The job was cancelled."""


def perform(spec: Spec, record: Record, settings: Settings) -> None:
    """Run a job and tell its record the outcome. Raises RedisError if Redis does not answer."""
    last = record.last()
    if last is not None and last.state in END_STATES:  # a worker that was presumed dead has ended it
        return
    run = _Run(spec, record, settings)
    event = run.outcome()
    record.tell(event)
    log.info("job %s: %s, %s", event.state, spec.request.action, record.key)
    if event.state == "succeeded":
        for upload in getattr(spec.request, "uploads", ()):
            run.spool.remove(upload)


class _Run:
    """One run of a job."""

    def __init__(self, spec: Spec, record: Record, settings: Settings) -> None:
        self.request, self.wanted, self.record = spec.request, spec.version, record
        self.index, self.threads, self.spool = settings.index, settings.threads, Spool(settings)
        self.private_folders: list[str] = []  # folders that error messages must not show
        self.names: dict[str, str] = {}  # what uploads are called here -> by their users
        self.bad: list[BadUnits] = []

    def outcome(self) -> Event:
        """Run the job and return its last event. Raises RedisError if Redis is away: it is then restarted."""
        try:
            self._tell("begun")
            with heard_by(self._hear):
                return self._act()
        except CancelledError:
            return Event(state="cancelled")
        except RedisError:
            raise
        except JobTimeoutException:
            reason = "not done within the time limit of a job: divide it into smaller ones"
        except PassepartoutError as error:
            reason = self._without_paths(str(error))
        except Exception as error:
            full = isinstance(error, OSError) and error.errno in NO_SPACE
            reason = "the worker's disk is full: free space, then send it again" if full else SERVICE_ERROR
            if not full:
                log_exception(log, error, {})
        return Event(state="failed", reason=reason)

    def _act(self) -> Event:
        if self.wanted and self.wanted != self._remembered("first", lambda: current(self.index)):
            raise self._outdated()
        match self.request:
            case Add() | Replace() as request:
                with self._sources(request) as sources:
                    if isinstance(request, Replace):
                        return self._change(change_index, replace=sources)
                    own_ids = request.own_ids or bool(request.sentences)
                    return self._change(change_index, add=sources, own_ids=own_ids)
            case Delete(ids=ids):
                return self._change(change_index, delete=ids)
            case Build(uploads=uploads):
                return self._change(rebuild_index, sources=self._uploaded(uploads))
            case Rollback(version=version):
                target = self._remembered("target", lambda: version or version_before(self.index))
                self._when_free(lambda: roll_back(self.index, target))
                return Event(state="succeeded", version=target)
            case Collect(keep=keep):
                self._when_free(lambda: collect(self.index, keep))
                return Event(state="succeeded", version=current(self.index))
            case Teach(language=language, captions=captions):
                given = [(caption.picture, caption.text) for caption in captions]
                manifest, learned = self._from_base(partial(teach_index, self.index, language, given))
                return self._changed(manifest, _taught(learned) if learned else None)

    def _change(self, change: Callable[..., IndexManifest], **options: object) -> Event:
        """Change the index; raises what `_from_base` does."""
        return self._changed(self._from_base(partial(change, self.index, threads=self.threads, **options)))

    def _from_base(self, change: Callable[..., Result]) -> Result:
        """Change the version served when the job first started, or a later one if that is gone.

        UsageError if the request names a version and that is not served any more.
        """
        while True:
            base = self._remembered("base", lambda: self.wanted or current(self.index))
            if base in versions(self.index):
                try:
                    return self._when_free(partial(change, base=base, job=self.record.key))
                except OutdatedError:
                    log.info("version %s is no longer served: changing the current one", base)
            if self.wanted:
                raise self._outdated()
            self.record.save("base", current(self.index))

    def _changed(self, manifest: IndexManifest, taught: Taught | None = None) -> Event:
        """The event of a job that made a version."""
        units = islice(chain.from_iterable(self.bad), UNITS_SHOWN)
        return Event(
            state="succeeded",
            version=manifest.version,
            dropped=self._dropped_by_reason(manifest) or None,
            skipped=sum(map(len, self.bad)) or None,
            skipped_units=[self._without_paths(unit) for unit in units] or None,
            taught=taught,
        )

    def _outdated(self) -> UsageError:
        return UsageError(f"the index is no longer at version {self.wanted}: read it again")

    def _dropped_by_reason(self, manifest: IndexManifest) -> dict[str, int]:
        """How many of the new sentences cleaning dropped, by reason."""
        counts = manifest.dropped
        if manifest.base in versions(self.index):
            counts -= manifest_of(self.index, manifest.base).dropped
        return {reason: count for reason, count in counts.items() if reason != DELETED_BY_ID}

    def _when_free(self, act: Callable[[], Result]) -> Result:
        """Call `act` until no other build holds the index."""
        while True:
            try:
                return act()
            except BusyError:
                self._tell("waiting for another build")
                time.sleep(BUSY_RETRY_SECONDS)

    def _remembered(self, name: str, first: Callable[[], str]) -> str:
        """A value saved when the job first started; computed by `first` and saved if there is none."""
        value = self.record.saved(name)
        if value is None:
            value = first()
            self.record.save(name, value)
        return value

    @contextmanager
    def _sources(self, request: Add | Replace) -> Iterator[list[Source]]:
        if request.uploads:
            yield self._uploaded(request.uploads)
            return
        with tempfile.TemporaryDirectory(prefix="passepartout-job-") as folder:
            self.private_folders.append(f"{folder}/")
            path = Path(folder) / INLINE_FILE
            path.write_text("".join(map(_json_line, request.sentences)), "utf-8")
            yield [Source(path)]

    def _uploaded(self, uploads: Sequence[str]) -> list[Source]:
        """The files of `uploads`. CorpusError if one is too long decompressed."""
        sources = [self.spool.source(upload) for upload in dict.fromkeys(uploads)]
        self.private_folders += [f"{source.path.parent}/" for source in sources]
        self.bad = [source.bad for source in sources if source.bad is not None]
        found = [upload for name in uploads if (upload := self.spool.find(name))]
        self.names = {upload.file: upload.name for upload in found if upload.name}
        for source in sources:
            _check_length(source.path)
        return sources

    def _hear(self, step: ProgressStep) -> None:
        with suppress(RedisError):  # the job continues while Redis is away
            self._tell(step.label, done=step.done, total=step.total, unit=step.unit)

    def _tell(self, stage: str, **progress: object) -> None:
        """Tell the record what is done now. CancelledError if the job was cancelled."""
        if self.record.saved("cancelled"):
            raise CancelledError
        self.record.tell(Event.model_validate({"state": "running", "stage": stage, **progress}))

    def _without_paths(self, reason: str) -> str:
        """An error message in one line, without the folders of this machine."""
        for folder in self.private_folders:
            reason = reason.replace(folder, "")
        for file, name in self.names.items():
            reason = reason.replace(file, name)
        return " ".join(reason.replace(str(self.index), "the index").split())


def _taught(learned: Learned) -> Taught:
    score = learned.recall
    return Taught(
        language=learned.code,
        lines=learned.lines,
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


def _check_length(path: Path) -> None:
    """Raise CorpusError for a file that is too long decompressed, or for what `open_stream` refuses."""
    size, read = path.stat().st_size, 0
    with Progress(size, unit="bytes", label="check") as bar, open_stream(path) as file:
        while block := file.read(READ_BYTES):
            read += len(block)
            if read > limits.MAX_CORPUS_BYTES:
                raise CorpusError(
                    f"{path}: longer than {limits.MAX_CORPUS_BYTES} bytes, decompressed: divide it"
                )
            bar.advance(max(0, min(read, size) - bar.done))
