"""The processes that encode the shards of a build, one a core."""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import wait
from threading import Thread
from typing import Any

import numpy as np

from index.build.job import Job
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.errors import PassepartoutError
from index.text.fasttext_model import fasttext_chances, fasttext_name
from index.text.identification import Detector
from index.words.vocabulary import count_words

TEXTS_WITHOUT_PROCESSES = 1024  # up to so many are encoded in this process: starting others takes longer
# A line that its tokens call foreign is dropped if fastText finds its own language less probable than this.
FASTTEXT_FOREIGN = 0.1


@dataclass(frozen=True)
class Encoded:
    """The vectors of n texts, and which texts are in another language than the corpus.

    `vectors` (n, d): zeros for `foreign` texts; None if they are on disk already.
    """

    foreign: list[bool]
    vectors: Vectors | None


class Worker:
    """Encodes shards in one process."""

    def __init__(self, encoder: TextEncoder, detector: Detector, batch_size: int) -> None:
        self.encoder, self.detector, self.batch_size = encoder, detector, batch_size

    def encode(self, code: str, texts: Sequence[str], check_language: bool) -> Encoded:
        """Encode texts of the language `code`, except foreign ones if `check_language`."""
        tokens = self.encoder.tokenizer.encode_corpus(texts)
        foreign = np.zeros(len(texts), bool)
        if check_language:
            foreign = self.detector.foreign(tokens.without(self.encoder.tokenizer.special), code)
            for row in np.flatnonzero(foreign).tolist():  # fastText knows more words than captions have
                chances = fasttext_chances(texts[row])
                foreign[row] = chances.get(fasttext_name(code), 0.0) < FASTTEXT_FOREIGN
        vectors = np.zeros((len(texts), self.encoder.dimension), np.float32)
        kept = np.flatnonzero(~foreign)
        encoded = self.encoder.encode_tokens(tokens.take(kept), self.batch_size)
        vectors[kept] = self.encoder.as_taught(code, [texts[row] for row in kept.tolist()], encoded)
        return Encoded(foreign.tolist(), vectors)


class ProcessPool:
    """Encodes in `job.threads` processes, or in this one for few texts.

    `ahead`: how many shards to submit before waiting for the first.
    """

    def __init__(self, job: Job, detector: Detector) -> None:
        self._job, self.detector = job, detector
        self._worker: Worker | None = None  # of this process
        self._executor: ProcessPoolExecutor | None = None
        self.ahead = 2 * job.threads if job.threads > 1 else 0

    def __enter__(self) -> "ProcessPool":
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor:
            self._executor.shutdown(cancel_futures=True)

    def encode(self, code: str, texts: Sequence[str], check_language: bool) -> "Future[Encoded]":
        """Encode texts of the language `code`, except foreign ones if `check_language`.

        The future raises what encoding does; see `result_of` for a process that died.
        """
        if self._worth_processes(texts):
            return self._processes().submit(_encode, code, texts, check_language)
        if self._worker is None:
            self._worker = Worker(self._job.encoder, self.detector, self._job.batch_size)
        return done(self._worker.encode(code, texts, check_language))

    def count(self, texts: list[str], code: str) -> "Future[dict[str, int]]":
        """Count how often each word of the language `code` occurs in the texts."""
        if self._worth_processes(texts):
            return self._processes().submit(count_words, texts, code)
        return done(count_words(texts, code))

    def _worth_processes(self, texts: Sequence[str]) -> bool:
        return bool(self._executor) or (self._job.threads > 1 and len(texts) > TEXTS_WITHOUT_PROCESSES)

    def _processes(self) -> ProcessPoolExecutor:
        if self._executor is None:
            self._executor = ProcessPoolExecutor(
                self._job.threads,
                multiprocessing.get_context("spawn"),
                _start,
                (self._job.bundle, self.detector, self._job.batch_size),
            )
        return self._executor


def done(value: Any) -> "Future[Any]":  # noqa: ANN401 (of any type)
    """A future that already has a result."""
    future: Future[Any] = Future()
    future.set_result(value)
    return future


def result_of(future: "Future[Any]") -> Any:  # noqa: ANN401 (of any type)
    """Wait for the result of a future. Raises PassepartoutError if a process of the pool died."""
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise PassepartoutError(
            "a process of the build died (killed, or out of memory): repeat the command, with fewer "
            "--threads if memory is short; what is encoded is kept"
        ) from error


_worker: Worker


def _start(bundle: Bundle, detector: Detector, batch_size: int) -> None:
    global _worker
    # Otherwise a pool's processes would wait for ever if their parent was killed.
    when_parent_ends(lambda: os._exit(1))
    # One thread each: there are as many processes as cores, and the vectors don't depend on their number.
    _worker = Worker(TextEncoder(bundle, threads=1), detector, batch_size)


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
