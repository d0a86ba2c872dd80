"""The version of the index that is served, and how another takes its place while requests are answered.

A new version is opened, verified and warmed up in a thread of its own; then new requests get its engine, and
those under way finish with the one that they began with, which is freed with the last of them. A version that
cannot be opened is refused, and the one before stays.
"""

import asyncio
import logging
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from index.errors import PassepartoutError
from index.search.translator import Translator
from index.storage.versions import CURRENT, current, open_version
from service.engine.engine import Engine

log = logging.getLogger("passepartout.index")

Result = TypeVar("Result")


class IndexManager:
    """`engine` is the one served; `make_engine` makes the engine of an opened version."""

    def __init__(self, index: Path, threads: int, make_engine: Callable[[Translator], Engine]) -> None:
        self._index, self._threads, self._make_engine = index, threads, make_engine
        self._lock = asyncio.Lock()
        self._opener = ThreadPoolExecutor(1, thread_name_prefix="open")
        self._engine: Engine | None = None
        self.damaged = False  # what is served: set by `verify`

    @property
    def engine(self) -> Engine:
        assert self._engine is not None  # start() has been awaited
        return self._engine

    async def start(self, translator: Translator | None) -> None:
        """Serve `translator`, if given, else what the index names as its current version."""
        self._engine = await self._in_thread(partial(self._open, translator))

    async def reload(self) -> bool:
        """Serve what the index names now; whether that is another version than before.

        Raises what opening an index raises: then the version before stays.
        """
        async with self._lock:
            version = await self._in_thread(partial(current, self._index))
            if version == self.engine.translator.version:
                return False
            try:
                engine = await self._in_thread(partial(self._open, None, version))
            except Exception as error:
                # Its message names files of this machine and says what to do; nothing in it is a user's.
                reason = str(error) if isinstance(error, PassepartoutError) else type(error).__name__
                served = self.engine.translator.version
                log.error("version %s is refused, %s stays: %s", version, served, reason)
                raise
            self._engine, self.damaged = engine, False
            log.info("version %s is served", version)
            return True

    async def try_reload(self) -> None:
        """As `reload`; what goes wrong is in the log alone."""
        with suppress(Exception):
            await self.reload()

    async def verify(self) -> None:
        """Check every file of the version served against its checksum; what is damaged is in the log."""
        version = self.engine.translator.version
        try:
            # Not in the thread that opens: a repaired version need not wait for the rest of a long check.
            await asyncio.to_thread(open_version, self._index, version, fresh=True)
            damaged = False
        except (PassepartoutError, OSError) as error:
            damaged = True
            log.error("version %s is served but damaged, so this is not ready: %s", version, error)
        if version == self.engine.translator.version:
            self.damaged = damaged

    @asynccontextmanager
    async def watching(self, seconds: float, verify_seconds: float = 0) -> AsyncIterator[None]:
        """Look every `seconds` whether the index names another version, `verify` every `verify_seconds`.

        Never for 0.
        """
        tasks = [asyncio.create_task(self._watch(seconds))] if seconds else []
        if verify_seconds:
            tasks.append(asyncio.create_task(self._verify_again(verify_seconds)))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    @contextmanager
    def reloading_on_hangup(self) -> Iterator[None]:
        """SIGHUP reloads, where signals come to this thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        tasks: set[asyncio.Task[None]] = set()

        def reload() -> None:
            task = loop.create_task(self.try_reload())
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        loop.add_signal_handler(signal.SIGHUP, reload)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGHUP)

    def close(self) -> None:
        self._opener.shutdown(cancel_futures=True)
        self._engine = None

    async def _watch(self, seconds: float) -> None:
        # By time and not by inotify, which sees nothing on network file systems and some mounts.
        seen = None
        while True:
            await asyncio.sleep(seconds)
            changed = await self._in_thread(partial(_changed_at, self._index / CURRENT))
            if changed is not None and changed != seen:
                seen = changed
                await self.try_reload()

    async def _verify_again(self, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            await self.verify()

    def _open(self, translator: Translator | None, version: str | None = None) -> Engine:
        opened = translator or Translator.open(self._index, version=version, threads=self._threads)
        engine = self._make_engine(opened)
        engine.warm_up()
        return engine

    async def _in_thread(self, act: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._opener, act)


def _changed_at(path: Path) -> tuple[int, int] | None:
    """What differs after a file was replaced; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
