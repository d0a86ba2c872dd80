"""A typed client of the service, sync and async.

    with Client("http://127.0.0.1:8000") as client:
        answer = client.sentences("A dog runs on the beach.", ["de", "pt"], source="en", k=3)
        print(answer.results[0].translations["de"][0].text)

`AsyncClient` has the same methods as coroutines. If the service refuses a request, they raise RefusedError,
which has the problem document; if it does not answer, UnreachableError. If it is overloaded (429 or 503), the
request is repeated up to `retries` times, each time after the seconds in Retry-After.

With the key of an admin a client changes the index:

    with Client("http://127.0.0.1:8000", key=KEY) as admin:
        upload = admin.upload(Path("memory.tmx"), "tmx")
        job = admin.submit(Add(action="add", uploads=[upload.id]))
        for now in admin.watch(job.id):
            print(now.stage, now.done, now.total)
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import update_wrapper
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypedDict, TypeVar, Unpack, overload

import httpx2
from pydantic import BaseModel, ValidationError

from index.errors import PassepartoutError
from service.client import calls
from service.client.calls import Call
from service.schemas import Problem
from service.schemas.jobs import END_STATES, Job

DEFAULT_TIMEOUT = 10.0
DEFAULT_RETRIES = 2
MAX_RETRY_WAIT = 30.0  # seconds before a repetition, whatever Retry-After says
DEFAULT_RETRY_WAIT = 1.0  # seconds, without a valid Retry-After
OVERLOAD_STATUSES = (429, 503)
WATCH_SECONDS = 0.5  # between two looks at a job

Given = ParamSpec("Given")
Result = TypeVar("Result")


class LibreTranslateFailure(BaseModel):
    """The body of an error of LibreTranslate's routes."""

    error: str


class ServiceError(PassepartoutError):
    """The service did not answer, or refused to."""


class UnreachableError(ServiceError):
    """Nothing answers at the address, or something other than Passepartout does."""


class RefusedError(ServiceError):
    """The service refused the request; `problem` is its problem document (RFC 9457)."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem
        self.exit_code = 2 if 400 <= problem.status < 500 else 1


class ConnectionOptions(TypedDict, total=False):
    """Options of a client.

    key: the API key, if the service requires one. timeout: seconds for each answer. retries: how often a
    request is repeated while the service is overloaded.
    """

    key: str | None
    timeout: float
    retries: int


class Method(Generic[Given, Result]):
    """A method of both clients: the one makes its Call at once, the other gives a coroutine."""

    def __init__(self, call: Callable[Given, Call[Result]]) -> None:
        self._call = call

    @overload
    def __get__(self, client: None, owner: type) -> Callable[Given, Call[Result]]: ...
    @overload
    def __get__(self, client: "Client", owner: type) -> Callable[Given, Result]: ...
    @overload
    def __get__(self, client: "AsyncClient", owner: type) -> Callable[Given, Awaitable[Result]]: ...
    def __get__(self, client: "Client | AsyncClient | None", owner: type) -> Callable[Given, Any]:
        if client is None:
            return self._call

        def answered(*args: Given.args, **options: Given.kwargs) -> Any:  # noqa: ANN401
            return client.do(self._call(*args, **options))

        return update_wrapper(answered, self._call)


class Methods:
    """What both clients can ask; every method raises RefusedError and UnreachableError."""

    sentences = Method(calls.sentences)
    words = Method(calls.words)
    ask = Method(calls.ask)
    languages = Method(calls.languages)
    concordance = Method(calls.concordance)
    teaching_pictures = Method(calls.teaching_pictures)
    translate_file = Method(calls.translate_file)
    ready = Method(calls.ready)
    upload = Method(calls.upload)
    submit = Method(calls.submit)
    job = Method(calls.job)
    cancel = Method(calls.cancel)
    jobs = Method(calls.jobs)
    versions = Method(calls.versions)

    def __init__(self, url: str, options: ConnectionOptions) -> None:
        key = options.get("key")
        self._url, self._retries = url, options.get("retries", DEFAULT_RETRIES)
        self._http_options: dict[str, Any] = {
            "base_url": _base(url),
            "headers": {} if key is None else {"Authorization": f"Bearer {key}"},
            "timeout": options.get("timeout", DEFAULT_TIMEOUT),
        }

    def _wait(self, response: httpx2.Response, attempt: int) -> float | None:
        """Seconds to wait before repeating a request; None if it is not repeated."""
        if response.status_code not in OVERLOAD_STATUSES or attempt >= self._retries:
            return None
        seconds = response.headers.get("Retry-After", "")
        valid = seconds.isascii() and seconds.isdigit()
        return min(float(seconds), MAX_RETRY_WAIT) if valid else DEFAULT_RETRY_WAIT

    def _unreachable(self, error: Exception) -> UnreachableError:
        reason = str(error) or type(error).__name__
        return UnreachableError(f"{self._url} does not answer ({reason}): is it running?")

    def _result(self, call: Call[Result], response: httpx2.Response) -> Result:
        """What a response says; RefusedError, or UnreachableError if another service answers."""
        try:
            if not response.is_success:
                raise RefusedError(_problem(response))
            return call.read(response.content)
        except ValidationError:
            raise UnreachableError(
                f"{response.url} answers {response.status_code} and something else: is it a Passepartout "
                "service?"
            ) from None


class Client(Methods):
    """A client of the service at `url`; close it after use, or use it in a `with` statement."""

    def __init__(
        self, url: str, *, transport: httpx2.BaseTransport | None = None, **options: Unpack[ConnectionOptions]
    ) -> None:
        super().__init__(url, options)
        self._http = httpx2.Client(transport=transport, **self._http_options)

    def do(self, call: Call[Result]) -> Result:
        """Make a request, and the one that follows from it."""
        for attempt in range(self._retries + 1):
            try:
                response = self._http.request(call.method, call.path, **call.options)
            except httpx2.HTTPError as error:
                raise self._unreachable(error) from error
            if (seconds := self._wait(response, attempt)) is None:
                break
            time.sleep(seconds)
        result = self._result(call, response)
        return result if call.follow is None else self.do(call.follow(result))

    def watch(self, job_id: str) -> Iterator[Job]:
        """Yield a job whenever something of it has changed, until it has ended."""
        seen = None
        while seen is None or seen.state not in END_STATES:
            if seen is not None:
                time.sleep(WATCH_SECONDS)
            if (now := self.job(job_id)) != seen:
                yield now
            seen = now

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(Methods):
    """The same as Client with coroutines; close it after use, or use it in an `async with` statement."""

    def __init__(
        self,
        url: str,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        **options: Unpack[ConnectionOptions],
    ) -> None:
        super().__init__(url, options)
        self._http = httpx2.AsyncClient(transport=transport, **self._http_options)

    async def do(self, call: Call[Result]) -> Result:
        """See Client.do."""
        for attempt in range(self._retries + 1):
            try:
                response = await self._http.request(call.method, call.path, **call.options)
            except httpx2.HTTPError as error:
                raise self._unreachable(error) from error
            if (seconds := self._wait(response, attempt)) is None:
                break
            await asyncio.sleep(seconds)
        result = self._result(call, response)
        return result if call.follow is None else await self.do(call.follow(result))

    async def watch(self, job_id: str) -> AsyncIterator[Job]:
        """See Client.watch."""
        seen = None
        while seen is None or seen.state not in END_STATES:
            if seen is not None:
                await asyncio.sleep(WATCH_SECONDS)
            if (now := await self.job(job_id)) != seen:
                yield now
            seen = now

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _base(url: str) -> httpx2.URL:
    """Parse the address; UnreachableError if it is invalid."""
    try:
        base = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise UnreachableError(f"{url!r} is not an address ({error}): give one as http://host:8000") from None
    if base.scheme not in ("http", "https") or not base.host:
        raise UnreachableError(f"{url!r} is not an address: give one as http://host:8000")
    return base


def _problem(response: httpx2.Response) -> Problem:
    """The problem document of a response; one is made from the `error` of LibreTranslate's routes."""
    try:
        return Problem.model_validate_json(response.content)
    except ValidationError:
        error = LibreTranslateFailure.model_validate_json(response.content).error
        title = response.reason_phrase
        return Problem(type="about:blank", title=title, status=response.status_code, detail=error)
