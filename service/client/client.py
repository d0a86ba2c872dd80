"""A typed client of the service, sync and async.

    with Client("http://127.0.0.1:8000") as client:
        answer = client.sentences("A dog runs on the beach.", ["de", "pt"], source="en", k=3)
        print(answer.results[0].translations["de"][0].text)

`AsyncClient` has the same methods, to be awaited. A refusal is a RefusedError with the service's problem
document, a service that does not answer an UnreachableError. One that is overloaded is asked again, after the
time that it names and at most `retries` times.
"""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypedDict, TypeVar, Unpack, overload

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError

from index.errors import PassepartoutError
from service.schemas import (
    Concordance,
    Include,
    Language,
    Problem,
    Readiness,
    SentenceRequest,
    SentenceResponse,
    TeachingPictures,
    TranslatedFile,
    WordRequest,
    WordResponse,
)

DEFAULT_TIMEOUT = 10.0
DEFAULT_RETRIES = 2
LONGEST_WAIT = 30.0  # seconds before asking again, whatever the service says
OVERLOAD_STATUSES = (429, 503)

Model = TypeVar("Model", bound=BaseModel)
Texts = str | Sequence[str]
LANGUAGE_LIST = TypeAdapter(list[Language])


class Options(TypedDict, total=False):
    """The fields of a request that may be left out (service/schemas/requests.py)."""

    source: str | None
    k: int
    min_confidence: float
    include: list[Include]
    explain: bool


class LibreTranslateFailure(BaseModel):
    """A refusal as LibreTranslate's routes have it."""

    error: str


class ServiceError(PassepartoutError):
    """The service gave no answer."""


class UnreachableError(ServiceError):
    """Nothing answers at the address, or what answers is no Passepartout."""


class RefusedError(ServiceError):
    """The service refused; `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem
        self.exit_code = 2 if 400 <= problem.status < 500 else 1


class Connecting(TypedDict, total=False):
    """`key`: the API key, where the service asks for one; `timeout`: seconds for each answer."""

    key: str | None
    timeout: float
    retries: int


class Page(TypedDict, total=False):
    """Which part of a concordance: `begin` at `next` of the page before, at most `count` sentences."""

    begin: int
    count: int


class Filling(TypedDict, total=False):
    """`source`: the language of the texts, detected if left out; `fuzzy`: whether to fill in translations of
    similar texts, by default where the format can mark them.
    """

    source: str
    fuzzy: bool


class _Connection:
    """What both clients are made with."""

    def __init__(self, url: str, how: Connecting) -> None:
        self._url, self._retries = url, how.get("retries", DEFAULT_RETRIES)
        self._options: dict[str, Any] = {
            "base_url": _base(url),
            "headers": _headers(how.get("key")),
            "timeout": how.get("timeout", DEFAULT_TIMEOUT),
        }


class Client(_Connection):
    """A connection to the service at `url`; close it, or use it in a `with`."""

    def __init__(
        self, url: str, *, transport: httpx2.BaseTransport | None = None, **how: Unpack[Connecting]
    ) -> None:
        super().__init__(url, how)
        self._http = httpx2.Client(transport=transport, **self._options)

    def sentences(self, text: Texts, target: Texts, **options: Unpack[Options]) -> SentenceResponse:
        """Translate one or more sentences into one or more languages."""
        return self.ask(SentenceRequest(text=_list(text), target=_list(target), **options))

    def words(self, word: Texts, target: Texts, **options: Unpack[Options]) -> WordResponse:
        """Translate one or more words into one or more languages."""
        return self.ask(WordRequest(word=_list(word), target=_list(target), **options))

    @overload
    def ask(self, request: SentenceRequest) -> SentenceResponse: ...
    @overload
    def ask(self, request: WordRequest) -> WordResponse: ...
    @overload
    def ask(self, request: SentenceRequest | WordRequest) -> SentenceResponse | WordResponse: ...
    def ask(self, request: SentenceRequest | WordRequest) -> SentenceResponse | WordResponse:
        """The answer to a request of the API."""
        return _response(request, self._send("POST", _path(request), _body(request)))

    def languages(self) -> list[Language]:
        """The languages of the index, and what each can be translated into."""
        return _languages(self._send("GET", "languages"))

    def concordance(
        self, text: str | None, source: str, target: Texts = (), **page: Unpack[Page]
    ) -> Concordance:
        """Where a word or phrase stands in the sentences of `source`, with what the corpus aligns with them.

        All sentences where `text` is None; translations into all languages where `target` is empty.
        """
        return answer(
            Concordance,
            self._send("GET", "concordance", params=_concordance_query(text, source, target, page)),
        )

    def teaching_pictures(self, count: int | None = None) -> TeachingPictures:
        """What to caption first in a language to be taught; all pictures without `count`."""
        return answer(TeachingPictures, self._send("GET", "teach/pictures", params=_given(count=count)))

    def translate_file(
        self, path: Path, out: Path, target: str, **options: Unpack[Filling]
    ) -> TranslatedFile:
        """Fill a PO, XLIFF, TMX, JSON or text file from the translation memory, and write it to `out`."""
        filled = answer(TranslatedFile, self._send("POST", "translate_file", **_file(path, target, options)))
        out.write_bytes(self._send("GET", _download(filled)).content)
        return filled

    def ready(self) -> Readiness:
        """Which index and model are served; RefusedError where the service is not ready."""
        return answer(Readiness, self._send("GET", "health/ready"))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        **more: Any,  # noqa: ANN401
    ) -> httpx2.Response:
        for tried in range(self._retries + 1):
            try:
                response = self._http.request(method, path, json=body, **more)
            except httpx2.HTTPError as error:
                raise _unreachable(self._url, error) from error
            if response.status_code not in OVERLOAD_STATUSES or tried == self._retries:
                break
            time.sleep(_wait(response))
        return checked(self._url, response)


class AsyncClient(_Connection):
    """As Client, to be awaited; close it, or use it in an `async with`."""

    def __init__(
        self, url: str, *, transport: httpx2.AsyncBaseTransport | None = None, **how: Unpack[Connecting]
    ) -> None:
        super().__init__(url, how)
        self._http = httpx2.AsyncClient(transport=transport, **self._options)

    async def sentences(self, text: Texts, target: Texts, **options: Unpack[Options]) -> SentenceResponse:
        return await self.ask(SentenceRequest(text=_list(text), target=_list(target), **options))

    async def words(self, word: Texts, target: Texts, **options: Unpack[Options]) -> WordResponse:
        return await self.ask(WordRequest(word=_list(word), target=_list(target), **options))

    @overload
    async def ask(self, request: SentenceRequest) -> SentenceResponse: ...
    @overload
    async def ask(self, request: WordRequest) -> WordResponse: ...
    @overload
    async def ask(self, request: SentenceRequest | WordRequest) -> SentenceResponse | WordResponse: ...
    async def ask(self, request: SentenceRequest | WordRequest) -> SentenceResponse | WordResponse:
        return _response(request, await self._send("POST", _path(request), _body(request)))

    async def languages(self) -> list[Language]:
        return _languages(await self._send("GET", "languages"))

    async def concordance(
        self, text: str | None, source: str, target: Texts = (), **page: Unpack[Page]
    ) -> Concordance:
        params = _concordance_query(text, source, target, page)
        return answer(Concordance, await self._send("GET", "concordance", params=params))

    async def teaching_pictures(self, count: int | None = None) -> TeachingPictures:
        return answer(TeachingPictures, await self._send("GET", "teach/pictures", params=_given(count=count)))

    async def translate_file(
        self, path: Path, out: Path, target: str, **options: Unpack[Filling]
    ) -> TranslatedFile:
        form = await asyncio.to_thread(_file, path, target, options)
        filled = answer(TranslatedFile, await self._send("POST", "translate_file", **form))
        content = (await self._send("GET", _download(filled))).content
        await asyncio.to_thread(out.write_bytes, content)
        return filled

    async def ready(self) -> Readiness:
        return answer(Readiness, await self._send("GET", "health/ready"))

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _send(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        **more: Any,  # noqa: ANN401
    ) -> httpx2.Response:
        for tried in range(self._retries + 1):
            try:
                response = await self._http.request(method, path, json=body, **more)
            except httpx2.HTTPError as error:
                raise _unreachable(self._url, error) from error
            if response.status_code not in OVERLOAD_STATUSES or tried == self._retries:
                break
            await asyncio.sleep(_wait(response))
        return checked(self._url, response)


def _base(url: str) -> httpx2.URL:
    """The address, checked; UnreachableError for what is none."""
    try:
        base = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise UnreachableError(f"{url!r} is not an address ({error}): give one as http://host:8000") from None
    if base.scheme not in ("http", "https") or not base.host:
        raise UnreachableError(f"{url!r} is not an address: give one as http://host:8000")
    return base


def _headers(key: str | None) -> dict[str, str]:
    return {} if key is None else {"Authorization": f"Bearer {key}"}


def _list(given: Texts) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _path(request: SentenceRequest | WordRequest) -> str:
    return "translate/word" if isinstance(request, WordRequest) else "translate/sentence"


def _body(request: SentenceRequest | WordRequest) -> dict[str, Any]:
    return request.model_dump(exclude_defaults=True)


def _given(**values: object) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _concordance_query(text: str | None, source: str, target: Texts, page: Page) -> dict[str, Any]:
    return _given(text=text, source=source, target=_list(target) or None, **page)


def _file(path: Path, target: str, options: Filling) -> dict[str, Any]:
    fuzzy = options.get("fuzzy")
    said = None if fuzzy is None else str(fuzzy).lower()
    return {
        "data": _given(target=target, source=options.get("source"), fuzzy=said),
        "files": {"file": (path.name, path.read_bytes())},
    }


def _download(filled: TranslatedFile) -> str:
    # Behind a proxy the service may name itself by another address than that of this client.
    return f"download_file/{filled.translatedFileUrl.rpartition('/')[2]}"


def _response(
    request: SentenceRequest | WordRequest, response: httpx2.Response
) -> SentenceResponse | WordResponse:
    if isinstance(request, WordRequest):
        return answer(WordResponse, response)
    return answer(SentenceResponse, response)


def _wait(response: httpx2.Response) -> float:
    """Seconds until to ask again."""
    given = response.headers.get("Retry-After", "")
    return min(float(given), LONGEST_WAIT) if given.isascii() and given.isdigit() else 1.0


def _unreachable(url: str, error: Exception) -> UnreachableError:
    return UnreachableError(f"{url} does not answer ({str(error) or type(error).__name__}): is it running?")


def checked(url: str, response: httpx2.Response) -> httpx2.Response:
    """The response, if it is an answer; else RefusedError, UnreachableError where it is not the service's."""
    if response.is_success:
        return response
    try:
        raise RefusedError(_problem(response))
    except ValidationError:
        message = (
            f"{url} answers {response.status_code} and no problem document: is it a Passepartout service?"
        )
        raise UnreachableError(message) from None


def _problem(response: httpx2.Response) -> Problem:
    """The problem document; on LibreTranslate's paths it has an error's words alone."""
    try:
        return Problem.model_validate_json(response.content)
    except ValidationError:
        error = LibreTranslateFailure.model_validate_json(response.content).error
        title = response.reason_phrase
        return Problem(type="about:blank", title=title, status=response.status_code, detail=error)


def answer(model: type[Model], response: httpx2.Response) -> Model:
    try:
        return model.model_validate_json(response.content)
    except ValidationError:
        raise _foreign(response) from None


def _languages(response: httpx2.Response) -> list[Language]:
    try:
        return LANGUAGE_LIST.validate_json(response.content)
    except ValidationError:
        raise _foreign(response) from None


def _foreign(response: httpx2.Response) -> UnreachableError:
    return UnreachableError(f"{response.url} answers something else: is it a Passepartout service?")
