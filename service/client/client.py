"""A typed client of the service, sync and async.

    with Client("http://127.0.0.1:8000") as client:
        answer = client.sentences("A dog runs on the beach.", ["de", "pt"], source="en", k=3)
        print(answer.results[0].translations["de"][0].text)

`AsyncClient` has the same methods as coroutines. If the service refuses a request, they raise RefusedError,
which has the problem document; if it does not answer, UnreachableError. If it is overloaded (429 or 503), the
request is repeated up to `retries` times, each time after the seconds in Retry-After.
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
MAX_RETRY_WAIT = 30.0  # seconds before a repetition, whatever Retry-After says
DEFAULT_RETRY_WAIT = 1.0  # seconds, without a valid Retry-After
OVERLOAD_STATUSES = (429, 503)

Model = TypeVar("Model", bound=BaseModel)
Texts = str | Sequence[str]
LANGUAGE_LIST = TypeAdapter(list[Language])


class TranslationOptions(TypedDict, total=False):
    """The optional fields of a translation request; service/schemas/requests.py describes them."""

    source: str | None
    k: int
    min_confidence: float
    include: list[Include]


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


class PageOptions(TypedDict, total=False):
    """Which part of a concordance to return.

    begin: the row to begin at, `next` of the previous page. count: the most sentences to return.
    """

    begin: int
    count: int


class FileOptions(TypedDict, total=False):
    """How to translate a file.

    source: the language of its texts, detected if left out. fuzzy: whether to fill in translations of similar
    texts; by default only in formats that can mark them.
    """

    source: str
    fuzzy: bool


class _Connection:
    """The address and options that both clients have."""

    def __init__(self, url: str, options: ConnectionOptions) -> None:
        self._url, self._retries = url, options.get("retries", DEFAULT_RETRIES)
        self._http_options: dict[str, Any] = {
            "base_url": _base(url),
            "headers": _headers(options.get("key")),
            "timeout": options.get("timeout", DEFAULT_TIMEOUT),
        }


class Client(_Connection):
    """A client of the service at `url`; close it after use, or use it in a `with` statement.

    Every method raises RefusedError and UnreachableError.
    """

    def __init__(
        self, url: str, *, transport: httpx2.BaseTransport | None = None, **options: Unpack[ConnectionOptions]
    ) -> None:
        super().__init__(url, options)
        self._http = httpx2.Client(transport=transport, **self._http_options)

    def sentences(
        self, text: Texts, target: Texts, **options: Unpack[TranslationOptions]
    ) -> SentenceResponse:
        """Translate one or more sentences into one or more languages."""
        return self.ask(SentenceRequest(text=_list(text), target=_list(target), **options))

    def words(self, word: Texts, target: Texts, **options: Unpack[TranslationOptions]) -> WordResponse:
        """Translate one or more words into one or more languages."""
        return self.ask(WordRequest(word=_list(word), target=_list(target), **options))

    @overload
    def ask(self, request: SentenceRequest) -> SentenceResponse: ...
    @overload
    def ask(self, request: WordRequest) -> WordResponse: ...
    @overload
    def ask(self, request: SentenceRequest | WordRequest) -> SentenceResponse | WordResponse: ...
    def ask(self, request: SentenceRequest | WordRequest) -> SentenceResponse | WordResponse:
        """Send a translation request and return the answer."""
        return _response(request, self._send("POST", _path(request), _body(request)))

    def languages(self) -> list[Language]:
        """List the languages of the index, and the targets of each."""
        return _languages(self._send("GET", "languages"))

    def concordance(
        self, text: str | None, source: str, target: Texts = (), **page: Unpack[PageOptions]
    ) -> Concordance:
        """Find the sentences in `source` that contain a word or phrase, with their translations.

        text: None for all sentences. target: the languages of the translations; empty for all.
        """
        return answer(
            Concordance,
            self._send("GET", "concordance", params=_concordance_query(text, source, target, page)),
        )

    def teaching_pictures(self, count: int | None = None) -> TeachingPictures:
        """List the pictures to caption first when teaching a language: the first `count`, or all."""
        return answer(TeachingPictures, self._send("GET", "teach/pictures", params=_given(count=count)))

    def translate_file(
        self, path: Path, out: Path, target: str, **options: Unpack[FileOptions]
    ) -> TranslatedFile:
        """Translate a PO, XLIFF, TMX, JSON or text file from the translation memory into `out`.

        Texts that the memory does not have stay empty; the result counts them. Raises OSError.
        """
        filled = answer(TranslatedFile, self._send("POST", "translate_file", **_file(path, target, options)))
        out.write_bytes(self._send("GET", _download(filled)).content)
        return filled

    def ready(self) -> Readiness:
        """Return the index version and the model served; RefusedError if the service is not ready."""
        return answer(Readiness, self._send("GET", "health/ready"))

    def close(self) -> None:
        """Close the connections."""
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
        **options: Any,  # noqa: ANN401
    ) -> httpx2.Response:
        for attempt in range(self._retries + 1):
            try:
                response = self._http.request(method, path, json=body, **options)
            except httpx2.HTTPError as error:
                raise _unreachable(self._url, error) from error
            if response.status_code not in OVERLOAD_STATUSES or attempt == self._retries:
                break
            time.sleep(_wait(response))
        return checked(self._url, response)


class AsyncClient(_Connection):
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

    async def sentences(
        self, text: Texts, target: Texts, **options: Unpack[TranslationOptions]
    ) -> SentenceResponse:
        """See Client.sentences."""
        return await self.ask(SentenceRequest(text=_list(text), target=_list(target), **options))

    async def words(self, word: Texts, target: Texts, **options: Unpack[TranslationOptions]) -> WordResponse:
        """See Client.words."""
        return await self.ask(WordRequest(word=_list(word), target=_list(target), **options))

    @overload
    async def ask(self, request: SentenceRequest) -> SentenceResponse: ...
    @overload
    async def ask(self, request: WordRequest) -> WordResponse: ...
    @overload
    async def ask(self, request: SentenceRequest | WordRequest) -> SentenceResponse | WordResponse: ...
    async def ask(self, request: SentenceRequest | WordRequest) -> SentenceResponse | WordResponse:
        """See Client.ask."""
        return _response(request, await self._send("POST", _path(request), _body(request)))

    async def languages(self) -> list[Language]:
        """See Client.languages."""
        return _languages(await self._send("GET", "languages"))

    async def concordance(
        self, text: str | None, source: str, target: Texts = (), **page: Unpack[PageOptions]
    ) -> Concordance:
        """See Client.concordance."""
        params = _concordance_query(text, source, target, page)
        return answer(Concordance, await self._send("GET", "concordance", params=params))

    async def teaching_pictures(self, count: int | None = None) -> TeachingPictures:
        """See Client.teaching_pictures."""
        return answer(TeachingPictures, await self._send("GET", "teach/pictures", params=_given(count=count)))

    async def translate_file(
        self, path: Path, out: Path, target: str, **options: Unpack[FileOptions]
    ) -> TranslatedFile:
        """See Client.translate_file."""
        form = await asyncio.to_thread(_file, path, target, options)
        filled = answer(TranslatedFile, await self._send("POST", "translate_file", **form))
        content = (await self._send("GET", _download(filled))).content
        await asyncio.to_thread(out.write_bytes, content)
        return filled

    async def ready(self) -> Readiness:
        """See Client.ready."""
        return answer(Readiness, await self._send("GET", "health/ready"))

    async def close(self) -> None:
        """Close the connections."""
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
        **options: Any,  # noqa: ANN401
    ) -> httpx2.Response:
        for attempt in range(self._retries + 1):
            try:
                response = await self._http.request(method, path, json=body, **options)
            except httpx2.HTTPError as error:
                raise _unreachable(self._url, error) from error
            if response.status_code not in OVERLOAD_STATUSES or attempt == self._retries:
                break
            await asyncio.sleep(_wait(response))
        return checked(self._url, response)


def _base(url: str) -> httpx2.URL:
    """Parse the address; UnreachableError if it is invalid."""
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
    """Leave out what is None."""
    return {name: value for name, value in values.items() if value is not None}


def _concordance_query(text: str | None, source: str, target: Texts, page: PageOptions) -> dict[str, Any]:
    return _given(text=text, source=source, target=_list(target) or None, **page)


def _file(path: Path, target: str, options: FileOptions) -> dict[str, Any]:
    fuzzy = options.get("fuzzy")
    fuzzy_field = None if fuzzy is None else str(fuzzy).lower()
    return {
        "data": _given(target=target, source=options.get("source"), fuzzy=fuzzy_field),
        "files": {"file": (path.name, path.read_bytes())},
    }


def _download(filled: TranslatedFile) -> str:
    # Only the file's name is used: behind a proxy, the service may state another address than the client's.
    return f"download_file/{filled.translatedFileUrl.rpartition('/')[2]}"


def _response(
    request: SentenceRequest | WordRequest, response: httpx2.Response
) -> SentenceResponse | WordResponse:
    if isinstance(request, WordRequest):
        return answer(WordResponse, response)
    return answer(SentenceResponse, response)


def _wait(response: httpx2.Response) -> float:
    """Seconds to wait before repeating the request."""
    seconds = response.headers.get("Retry-After", "")
    return (
        min(float(seconds), MAX_RETRY_WAIT) if seconds.isascii() and seconds.isdigit() else DEFAULT_RETRY_WAIT
    )


def _unreachable(url: str, error: Exception) -> UnreachableError:
    return UnreachableError(f"{url} does not answer ({str(error) or type(error).__name__}): is it running?")


def checked(url: str, response: httpx2.Response) -> httpx2.Response:
    """Return a successful response; raise RefusedError, or UnreachableError without a problem document."""
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
    """The problem document of a response; one is made from the `error` of LibreTranslate's routes."""
    try:
        return Problem.model_validate_json(response.content)
    except ValidationError:
        error = LibreTranslateFailure.model_validate_json(response.content).error
        title = response.reason_phrase
        return Problem(type="about:blank", title=title, status=response.status_code, detail=error)


def answer(model: type[Model], response: httpx2.Response) -> Model:
    """Parse the body of a response as a model; UnreachableError if it is something else."""
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
