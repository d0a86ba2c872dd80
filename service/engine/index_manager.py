"""IndexManager: serves a version of the index, and replaces it by a new one while requests are answered.

A new version is opened, verified and warmed up in its own thread. Then new requests get its engine, and
running requests finish with the engine they started with, which is freed with the last of them. If a version
cannot be opened, the previous one stays.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from index.answers.translator import Translator
from index.errors import PassepartoutError
from index.storage.versions import CURRENT, current
from service.engine.engine import ServiceEngine

log = logging.getLogger("passepartout.index")

Result = TypeVar("Result")


class IndexManager:
    """Holds the `engine` that is served; `make_engine` makes one for an opened version."""

    def __init__(self, index: Path, threads: int, make_engine: Callable[[Translator], ServiceEngine]) -> None:
        self._index, self._threads, self._make_engine = index, threads, make_engine
        self._lock = asyncio.Lock()
        self._opener = ThreadPoolExecutor(1, thread_name_prefix="open")
        self._engine: ServiceEngine | None = None

    @property
    def engine(self) -> ServiceEngine:
        assert self._engine is not None  # start() has been awaited
        return self._engine

    async def start(self, translator: Translator | None) -> None:
        """Serve `translator`, if given, otherwise the current version of the index."""
        self._engine = await self._in_thread(partial(self._open, translator))

    async def reload(self) -> None:
        """Serve the current version of the index; one that cannot be opened is refused: the log says why."""
        async with self._lock:
            served, version = self.engine.translator.version, "in CURRENT"
            try:
                version = await self._in_thread(partial(current, self._index))
                if version == served:
                    return
                self._engine = await self._in_thread(partial(self._open, None, version))
            except Exception as error:
                # The message names files of this machine and contains no user data.
                reason = str(error) if isinstance(error, PassepartoutError) else type(error).__name__
                log.error("version %s is refused, %s stays: %s", version, served, reason)
            else:
                log.info("version %s is served", version)

    @asynccontextmanager
    async def watching(self, seconds: float) -> AsyncIterator[None]:
        """Check every `seconds` whether the index has a new version."""
        task = asyncio.create_task(self._watch(seconds))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def close(self) -> None:
        self._opener.shutdown(cancel_futures=True)
        self._engine = None

    async def _watch(self, seconds: float) -> None:
        # Polling, since inotify does not work on network file systems and some mounts.
        seen = None
        while True:
            await asyncio.sleep(seconds)
            changed = await self._in_thread(partial(_changed_at, self._index / CURRENT))
            if changed is not None and changed != seen:
                seen = changed
                await self.reload()

    def _open(self, translator: Translator | None, version: str | None = None) -> ServiceEngine:
        served = self._engine.translator if self._engine else None
        opened = translator or Translator.open(
            self._index, version=version, threads=self._threads, like=served
        )
        engine = self._make_engine(opened)
        engine.warm_up()
        return engine

    async def _in_thread(self, act: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._opener, act)


def _changed_at(path: Path) -> tuple[int, int] | None:
    """A value that changes when a file is replaced; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
