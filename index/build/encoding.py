"""Encoding: shards of texts to vectors, in processes, one a core.

The vectors of a shard are appended to LANG.vectors, then a line about it to LANG.journal: a digest of the
encoder and the texts, where its vectors begin, which texts they belong to, which are in another language,
CRC-32. A later build does not encode a shard that the journal has, if its vectors are as they were written.
"""

import json
import multiprocessing
import os
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from hashlib import blake2b
from itertools import compress
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from index.arrays import Vectors
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import PassepartoutError
from index.text.identification import Detector, fasttext_chances, fasttext_languages, fasttext_name
from index.text.placeables import without_tags
from index.words.vocabulary import count_words

TEXTS_WITHOUT_PROCESSES = 1024  # up to so many are encoded in this process: starting others takes longer
# A line that its tokens call foreign is dropped if fastText finds its own language less probable than this.
FASTTEXT_FOREIGN = 0.1


@dataclass(frozen=True)
class BuildJob:
    """A running build, on `threads` cores: what its stages share.

    Files to publish are in `work`; `parts` has the vectors from which a killed build goes on.
    """

    work: Path
    parts: Path
    bundle: Bundle
    encoder: TextEncoder
    threads: int = 1


class Encoded(NamedTuple):
    """Which of n texts are in another language than the corpus, and their vectors (n, d), 0 for these."""

    foreign: list[bool]
    vectors: Vectors


class Worker:
    """Encodes shards in one process."""

    def __init__(self, encoder: TextEncoder, detector: Detector) -> None:
        self.encoder, self.detector = encoder, detector

    def encode(self, code: str, texts: Sequence[str], check_language: bool) -> Encoded:
        """Encode texts of the language `code`, except foreign ones if `check_language`."""
        texts = [without_tags(text) for text in texts]  # as questions are encoded
        tokens = self.encoder.tokenizer.encode_corpus(texts)
        foreign = np.zeros(len(texts), bool)
        if check_language and code not in self.encoder.bundle.taught:
            foreign = self.detector.foreign(tokens.without(self.encoder.tokenizer.special), code)
            for row in np.flatnonzero(foreign).tolist():  # fastText knows more words than captions have
                chances = fasttext_chances(texts[row])
                # The texts of a language that it does not know look like those of one that it knows.
                known = fasttext_name(code) in fasttext_languages()
                foreign[row] = known and chances.get(fasttext_name(code), 0.0) < FASTTEXT_FOREIGN
        vectors = np.zeros((len(texts), self.encoder.dimension), np.float32)
        kept = np.flatnonzero(~foreign)
        encoded = self.encoder.encode_tokens(tokens.take(kept))
        vectors[kept] = self.encoder.as_taught(code, [texts[row] for row in kept.tolist()], encoded)
        return Encoded(foreign.tolist(), vectors)


class EncodingPool:
    """Encodes in `job.threads` processes, or in this one for few texts.

    `ahead`: how many shards to submit before waiting for the first.
    """

    def __init__(self, job: BuildJob, detector: Detector) -> None:
        self._job, self.detector = job, detector
        self._worker: Worker | None = None  # of this process
        self._executor: ProcessPoolExecutor | None = None
        self.ahead = 2 * job.threads if job.threads > 1 else 0

    def __enter__(self) -> "EncodingPool":
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor:
            self._executor.shutdown(cancel_futures=True)

    def encode(self, code: str, texts: Sequence[str], check_language: bool) -> "Future[Encoded]":
        """Encode texts of the language `code`, except foreign ones if `check_language`.

        The future raises what encoding does; see `result` for a process that died.
        """
        if self._worth_processes(texts):
            return self._processes().submit(_encode, code, texts, check_language)
        if self._worker is None:
            self._worker = Worker(self._job.encoder, self.detector)
        return done(self._worker.encode(code, texts, check_language))

    def count(self, texts: list[str], code: str) -> "Future[dict[str, int]]":
        """Count how often each word of the language `code` occurs in the texts."""
        if self._worth_processes(texts):
            return self._processes().submit(count_words, texts, code)
        return done(count_words(texts, code))

    def result(self, future: "Future[Any]") -> Any:  # noqa: ANN401 (of any type)
        """Wait for the result of a future. Raises PassepartoutError if a process of the pool died."""
        try:
            return future.result()
        except BrokenProcessPool as error:
            raise PassepartoutError(
                "a process of the build died (killed, or out of memory): repeat the command, with fewer "
                "--threads if memory is short; what is encoded is kept"
            ) from error

    def _worth_processes(self, texts: Sequence[str]) -> bool:
        return bool(self._executor) or (self._job.threads > 1 and len(texts) > TEXTS_WITHOUT_PROCESSES)

    def _processes(self) -> ProcessPoolExecutor:
        if self._executor is None:
            self._executor = ProcessPoolExecutor(
                self._job.threads,
                multiprocessing.get_context("spawn"),
                _start,
                (self._job.bundle, self.detector),
            )
        return self._executor


def done(value: Any) -> "Future[Any]":  # noqa: ANN401 (of any type)
    """A future that already has a result."""
    future: Future[Any] = Future()
    future.set_result(value)
    return future


class Shard(NamedTuple):
    """A shard of texts that are being encoded; `result` waits for them."""

    digest: str
    result: Callable[[], Encoded]


class Shards:
    """The vectors of one language, in the order of the corpus; a context manager."""

    def __init__(self, job: BuildJob, code: str, pool: EncodingPool) -> None:
        self._code, self._pool, self._dimension = code, pool, job.encoder.dimension
        self._seed = f"{job.bundle.manifest.digest} {code}"
        vectors, self._journal = job.parts / f"{code}.vectors", job.parts / f"{code}.journal"
        entries = _entries(self._journal)
        self._journal.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        self._known = {entry["digest"]: entry for entry in entries}
        self._file = vectors.open("r+b" if vectors.exists() else "w+b")
        self._rows = 0

    def __enter__(self) -> "Shards":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def begin(self, texts: Sequence[str], check_language: bool) -> Shard:
        """Start encoding the next texts, unless they are there; foreign ones are left out if
        `check_language`."""
        if not texts:
            return Shard("", lambda: Encoded([], np.zeros((0, self._dimension), np.float32)))
        every = "\n".join([f"{self._seed} {check_language}", *texts]).encode("utf-8", "surrogatepass")
        digest = blake2b(every, digest_size=16).hexdigest()
        if stored := self._stored(digest, len(texts)):
            return Shard(digest, lambda: stored)
        future = self._pool.encode(self._code, texts, check_language)
        return Shard(digest, lambda: self._pool.result(future))

    def add(self, vectors: Vectors) -> None:
        """Append vectors that were not encoded here."""
        self._file.seek(4 * self._rows * self._dimension)
        self._file.write(np.ascontiguousarray(vectors, np.float32).data)
        self._rows += len(vectors)

    def finish(self, shard: Shard, rows: Sequence[int]) -> None:
        """Append the vectors of those texts of a shard that are kept, and note them in the journal."""
        foreign, vectors = shard.result()
        kept = np.ascontiguousarray(vectors[rows])
        start = self._rows
        self.add(kept)
        self._file.flush()
        entry = {"digest": shard.digest, "start": start, "rows": rows, "crc": zlib.crc32(kept.data)}
        entry["foreign"] = list(compress(range(len(foreign)), foreign))
        with self._journal.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def close(self) -> None:
        """Cut off what the file has after the last vectors."""
        self._file.truncate(4 * self._rows * self._dimension)
        self._file.flush()

    def _stored(self, digest: str, texts: int) -> Encoded | None:
        """What an earlier build encoded of a shard, if it is as it was written."""
        if (entry := self._known.get(digest)) is None:
            return None
        rows, width = entry["rows"], 4 * self._dimension
        self._file.seek(entry["start"] * width)
        content = self._file.read(len(rows) * width)
        if zlib.crc32(content) != entry["crc"]:
            return None
        vectors = np.zeros((texts, self._dimension), np.float32)
        vectors[rows] = np.frombuffer(content, np.float32).reshape(-1, self._dimension)
        foreign = set(entry["foreign"])
        return Encoded([row in foreign for row in range(texts)], vectors)


def _entries(journal: Path) -> list[dict[str, Any]]:
    """The entries of a journal, without lines that are incomplete."""
    entries: list[dict[str, Any]] = []
    for line in journal.read_bytes().splitlines() if journal.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and set(entry) == {"digest", "start", "rows", "crc", "foreign"}:
            entries.append(entry)
    return entries


_worker: Worker


def _start(bundle: Bundle, detector: Detector) -> None:
    global _worker
    # Otherwise a pool's processes would wait for ever if their parent was killed.
    when_parent_ends(lambda: os._exit(1))
    # One thread each: there are as many processes as cores, and the vectors don't depend on their number.
    _worker = Worker(TextEncoder(bundle, threads=1), detector)


def _encode(code: str, texts: Sequence[str], check_language: bool) -> Encoded:
    return _worker.encode(code, texts, check_language)


def when_parent_ends(act: Callable[[], None]) -> None:
    """Call `act` in a thread once the parent process (of `multiprocessing`) has ended, even if it was killed.

    Does nothing in a process without such a parent.
    """
    if parent := multiprocessing.parent_process():
        sentinel = parent.sentinel

        def watch() -> None:
            wait([sentinel])
            act()

        Thread(target=watch, daemon=True).start()
