"""The typed client for administrators: upload corpora, change the index, follow jobs, go back to a version.

    with AdminClient("http://127.0.0.1:8000", key=KEY) as admin:
        upload = admin.upload(Path("memory.tmx"), "tmx")
        job = admin.submit(Add(action="add", uploads=[upload.id]))
        for event in admin.watch(job.id):
            print(event.stage, event.done, event.total)

`AsyncAdminClient` has the same methods as coroutines.
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

UPLOAD_SECONDS = 600.0  # for a whole file
MAX_SILENCE = 30.0  # seconds without a line in a stream of events; the service sends one every 10
UPLOAD_BLOCK_BYTES = 1 << 16  # bytes of a file that are sent at a time
RECONNECT_PAUSE = 1.0  # seconds before a stream of events that was cut off is opened again

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Call(Generic[Model]):
    """A request to the API, and the model of its answer. `options` are those of httpx's `request`."""

    method: str
    path: str
    model: type[Model]
    body: dict[str, Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)


LIST_JOBS = Call("GET", "admin/jobs", Jobs)
LIST_UPLOADS = Call("GET", "admin/uploads", Uploads)
LIST_VERSIONS = Call("GET", "admin/versions", Versions)


def _submit_call(change: Request, key: str | None) -> Call[Job]:
    headers = {"Idempotency-Key": key} if key is not None else {}
    return Call("POST", "admin/jobs", Job, change.model_dump(exclude_defaults=True), {"headers": headers})


class UploadOptions(TypedDict, total=False):
    """The description of an uploaded file.

    language: of its sentences, for formats that do not state it. name: the file's name in error messages.
    columns: what the columns of a table mean, such as `en=English,de=German`.
    """

    language: str
    name: str
    columns: str


def _upload_call(
    content: object, form: Format, compression: Compression, description: UploadOptions
) -> Call[Upload]:
    options = {
        "params": {"format": form, "compression": compression, **description},
        "content": content,
        "headers": {"Content-Type": "application/octet-stream"},
        "timeout": UPLOAD_SECONDS,
    }
    return Call("POST", "admin/uploads", Upload, None, options)


def _with_name(path: Path, description: UploadOptions) -> UploadOptions:
    return {"name": path.name, **description}


def _job_call(job: str) -> Call[Job]:
    return Call("GET", f"admin/jobs/{job}", Job)


def _cancel_call(job: str) -> Call[Job]:
    return Call("POST", f"admin/jobs/{job}/cancel", Job)


class EventReader:
    """Reads the events of a job from the lines of a stream (server-sent events)."""

    def __init__(self, job: str) -> None:
        self.path = f"admin/jobs/{job}/events"
        self.last: str | None = None
        self.ended = False

    @property
    def options(self) -> dict[str, Any]:
        """The options of the request for the stream, which continues after the last event that was read."""
        headers = {} if self.last is None else {"Last-Event-ID": self.last}
        return {"headers": headers, "timeout": MAX_SILENCE}

    def read(self, line: str) -> Event | None:
        """Read a line; return its event, if it has one."""
        name, _, value = line.partition(": ")
        if name == "id":
            self.last = value
        if name != "data":
            return None
        event = Event.model_validate_json(value, extra="ignore")
        self.ended = event.state in END_STATES
        return event


class AdminClient(Client):
    """A Client whose key is that of an admin; every method raises RefusedError and UnreachableError."""

    def submit(self, change: Request, *, key: str | None = None) -> Job:
        """Submit a job that changes the index. Submitted again with the same `key`, it is still one job."""
        return self._do(_submit_call(change, key))

    def upload(
        self,
        content: Path | bytes | Iterable[bytes],
        form: Format,
        *,
        compression: Compression = "none",
        **description: Unpack[UploadOptions],
    ) -> Upload:
        """Upload a corpus file for a job, given as a path, bytes or blocks of bytes. Raises OSError."""
        if isinstance(content, Path):
            with content.open("rb") as file:
                return self._do(_upload_call(file, form, compression, _with_name(content, description)))
        return self._do(_upload_call(content, form, compression, description))

    def remove_upload(self, upload: str) -> None:
        """Remove an upload that no job has used."""
        self._send("DELETE", f"admin/uploads/{upload}")

    def watch(self, job: str) -> Iterator[Event]:
        """Yield the events of a job until it has ended, also those during interruptions of the connection."""
        reader = EventReader(job)
        while not reader.ended:
            yield from self._follow(reader)
            if not reader.ended:
                time.sleep(RECONNECT_PAUSE)

    def job(self, job: str) -> Job:
        """Return the state of a job, given by its id."""
        return self._do(_job_call(job))

    def cancel(self, job: str) -> Job:
        """Cancel a job, queued or running; one that has ended stays as it is."""
        return self._do(_cancel_call(job))

    def jobs(self) -> Jobs:
        """List the latest jobs, newest first, and count the workers."""
        return self._do(LIST_JOBS)

    def uploads(self) -> Uploads:
        """List the uploads that no job has used, newest first."""
        return self._do(LIST_UPLOADS)

    def versions(self) -> Versions:
        """List the versions of the index, newest first."""
        return self._do(LIST_VERSIONS)

    def _do(self, call: Call[Model]) -> Model:
        return answer(call.model, self._send(call.method, call.path, call.body, **call.options))

    def _follow(self, reader: EventReader) -> Iterator[Event]:
        try:
            with self._http.stream("GET", reader.path, **reader.options) as response:
                if not response.is_success:
                    response.read()
                    checked(self._url, response)
                for line in response.iter_lines():
                    if event := reader.read(line):
                        yield event
        except httpx2.TransportError:
            self.ready()  # raises UnreachableError if the service does not come back


class AsyncAdminClient(AsyncClient):
    """The same as AdminClient with coroutines."""

    async def submit(self, change: Request, *, key: str | None = None) -> Job:
        """See AdminClient.submit."""
        return await self._do(_submit_call(change, key))

    async def upload(
        self,
        content: Path | bytes | AsyncIterable[bytes],
        form: Format,
        *,
        compression: Compression = "none",
        **description: Unpack[UploadOptions],
    ) -> Upload:
        """See AdminClient.upload."""
        if isinstance(content, Path):
            return await self._do(
                _upload_call(_blocks(content), form, compression, _with_name(content, description))
            )
        return await self._do(_upload_call(content, form, compression, description))

    async def remove_upload(self, upload: str) -> None:
        """See AdminClient.remove_upload."""
        await self._send("DELETE", f"admin/uploads/{upload}")

    async def watch(self, job: str) -> AsyncIterator[Event]:
        """See AdminClient.watch."""
        reader = EventReader(job)
        while not reader.ended:
            async for event in self._follow(reader):
                yield event
            if not reader.ended:
                await asyncio.sleep(RECONNECT_PAUSE)

    async def job(self, job: str) -> Job:
        return await self._do(_job_call(job))

    async def cancel(self, job: str) -> Job:
        return await self._do(_cancel_call(job))

    async def jobs(self) -> Jobs:
        return await self._do(LIST_JOBS)

    async def uploads(self) -> Uploads:
        return await self._do(LIST_UPLOADS)

    async def versions(self) -> Versions:
        return await self._do(LIST_VERSIONS)

    async def _do(self, call: Call[Model]) -> Model:
        return answer(call.model, await self._send(call.method, call.path, call.body, **call.options))

    async def _follow(self, reader: EventReader) -> AsyncIterator[Event]:
        try:
            async with self._http.stream("GET", reader.path, **reader.options) as response:
                if not response.is_success:
                    await response.aread()
                    checked(self._url, response)
                async for line in response.aiter_lines():
                    if event := reader.read(line):
                        yield event
        except httpx2.TransportError:
            await self.ready()


async def _blocks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while block := await asyncio.to_thread(file.read, UPLOAD_BLOCK_BYTES):
            yield block
