"""The typed client with what an admin's key allows: upload corpora, change the index, watch, go back.

    with AdminClient("http://127.0.0.1:8000", key=KEY) as admin:
        upload = admin.upload(Path("memory.tmx"), "tmx")
        job = admin.submit(Add(action="add", uploads=[upload.id]))
        for event in admin.watch(job.id):
            print(event.stage, event.done, event.total)

`AsyncAdminClient` has the same methods, to be awaited.
"""

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypedDict, TypeVar, Unpack

import httpx2
from pydantic import BaseModel

from service.client.client import AsyncClient, Client, answer, checked
from service.schemas.jobs import (
    END_STATES,
    Compression,
    Event,
    Format,
    Job,
    Jobs,
    Request,
    Upload,
    Uploads,
    Versions,
)

UPLOAD_SECONDS = 600.0  # for the whole of a file
# Seconds without a sign of life from a job that is watched; the service gives one every 10.
MAX_SILENCE = 30.0
UPLOAD_BLOCK_BYTES = 1 << 16  # bytes of a file that are sent at a time
RECONNECT_PAUSE = 1.0  # seconds before a watch that was cut off is taken up again

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Call(Generic[Model]):
    """A request of the API, and what is answered."""

    method: str
    path: str
    model: type[Model]
    body: dict[str, Any] | None = None
    more: dict[str, Any] = field(default_factory=dict)


LIST_JOBS = Call("GET", "admin/jobs", Jobs)
LIST_UPLOADS = Call("GET", "admin/uploads", Uploads)
LIST_VERSIONS = Call("GET", "admin/versions", Versions)


def _submitting(change: Request, key: str | None) -> Call[Job]:
    headers = {"Idempotency-Key": key} if key is not None else {}
    return Call("POST", "admin/jobs", Job, change.model_dump(exclude_defaults=True), {"headers": headers})


class About(TypedDict, total=False):
    """What the service is told of a file: its `language` where it does not say it, your own `name` of it,
    which errors call it by, and what the `columns` of a table are, such as `en=English,de=German`."""

    language: str
    name: str
    columns: str


def _uploading(content: object, form: Format, compression: Compression, about: About) -> Call[Upload]:
    more = {
        "params": {"format": form, "compression": compression, **about},
        "content": content,
        "headers": {"Content-Type": "application/octet-stream"},
        "timeout": UPLOAD_SECONDS,
    }
    return Call("POST", "admin/uploads", Upload, None, more)


def _named(path: Path, about: About) -> About:
    return {"name": path.name, **about}


def _looking(job: str) -> Call[Job]:
    return Call("GET", f"admin/jobs/{job}", Job)


def _cancelling(job: str) -> Call[Job]:
    return Call("POST", f"admin/jobs/{job}/cancel", Job)


class Watch:
    """What a job's events say, from the lines of a stream."""

    def __init__(self, job: str) -> None:
        self.path = f"admin/jobs/{job}/events"
        self.last: str | None = None
        self.ended = False

    @property
    def more(self) -> dict[str, Any]:
        """What to send with the request for the stream."""
        headers = {} if self.last is None else {"Last-Event-ID": self.last}
        return {"headers": headers, "timeout": MAX_SILENCE}

    def read(self, line: str) -> Event | None:
        """The event that a line holds, if it does; the id that may follow it is kept."""
        name, _, value = line.partition(": ")
        if name == "id":
            self.last = value
        if name != "data":
            return None
        event = Event.model_validate_json(value, extra="ignore")
        self.ended = event.state in END_STATES
        return event


class AdminClient(Client):
    """A client with the key of an admin."""

    def submit(self, change: Request, *, key: str | None = None) -> Job:
        """Have the index changed; sent again with the same `key`, it is not changed twice."""
        return self._do(_submitting(change, key))

    def upload(
        self,
        content: Path | bytes | Iterable[bytes],
        form: Format,
        *,
        compression: Compression = "none",
        **about: Unpack[About],
    ) -> Upload:
        """Send a corpus file, for a job."""
        if isinstance(content, Path):
            with content.open("rb") as file:
                return self._do(_uploading(file, form, compression, _named(content, about)))
        return self._do(_uploading(content, form, compression, about))

    def remove_upload(self, upload: str) -> None:
        """Remove an upload that no job has used."""
        self._send("DELETE", f"admin/uploads/{upload}")

    def watch(self, job: str) -> Iterator[Event]:
        """What becomes of a job, to its end; what was missed while the service was away is told, too."""
        watch = Watch(job)
        while not watch.ended:
            yield from self._followed(watch)
            if not watch.ended:
                time.sleep(RECONNECT_PAUSE)

    def job(self, job: str) -> Job:
        return self._do(_looking(job))

    def cancel(self, job: str) -> Job:
        return self._do(_cancelling(job))

    def jobs(self) -> Jobs:
        return self._do(LIST_JOBS)

    def uploads(self) -> Uploads:
        return self._do(LIST_UPLOADS)

    def versions(self) -> Versions:
        return self._do(LIST_VERSIONS)

    def _do(self, call: Call[Model]) -> Model:
        return answer(call.model, self._send(call.method, call.path, call.body, **call.more))

    def _followed(self, watch: Watch) -> Iterator[Event]:
        try:
            with self._http.stream("GET", watch.path, **watch.more) as response:
                if not response.is_success:
                    response.read()
                    checked(self._url, response)
                for line in response.iter_lines():
                    if event := watch.read(line):
                        yield event
        except httpx2.TransportError:
            self.ready()  # UnreachableError where the service is gone for good


class AsyncAdminClient(AsyncClient):
    """As AdminClient, to be awaited."""

    async def submit(self, change: Request, *, key: str | None = None) -> Job:
        return await self._do(_submitting(change, key))

    async def upload(
        self,
        content: Path | bytes | AsyncIterable[bytes],
        form: Format,
        *,
        compression: Compression = "none",
        **about: Unpack[About],
    ) -> Upload:
        if isinstance(content, Path):
            return await self._do(_uploading(_blocks(content), form, compression, _named(content, about)))
        return await self._do(_uploading(content, form, compression, about))

    async def remove_upload(self, upload: str) -> None:
        await self._send("DELETE", f"admin/uploads/{upload}")

    async def watch(self, job: str) -> AsyncIterator[Event]:
        watch = Watch(job)
        while not watch.ended:
            async for event in self._followed(watch):
                yield event
            if not watch.ended:
                await asyncio.sleep(RECONNECT_PAUSE)

    async def job(self, job: str) -> Job:
        return await self._do(_looking(job))

    async def cancel(self, job: str) -> Job:
        return await self._do(_cancelling(job))

    async def jobs(self) -> Jobs:
        return await self._do(LIST_JOBS)

    async def uploads(self) -> Uploads:
        return await self._do(LIST_UPLOADS)

    async def versions(self) -> Versions:
        return await self._do(LIST_VERSIONS)

    async def _do(self, call: Call[Model]) -> Model:
        return answer(call.model, await self._send(call.method, call.path, call.body, **call.more))

    async def _followed(self, watch: Watch) -> AsyncIterator[Event]:
        try:
            async with self._http.stream("GET", watch.path, **watch.more) as response:
                if not response.is_success:
                    await response.aread()
                    checked(self._url, response)
                async for line in response.aiter_lines():
                    if event := watch.read(line):
                        yield event
        except httpx2.TransportError:
            await self.ready()


async def _blocks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while block := await asyncio.to_thread(file.read, UPLOAD_BLOCK_BYTES):
            yield block
