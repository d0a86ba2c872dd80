"""A typed client of the service.

    with Client("http://127.0.0.1:8000") as client:
        answer = client.sentences("A dog runs on the beach.", ["de", "pt"], source="en", k=3)
        print(answer.results[0].translations["de"][0].text)

If the service refuses a request, methods raise RefusedError, which has the problem document; if it does not
answer, UnreachableError; pydantic's ValidationError for options that no service takes. If it is overloaded
(429 or 503), the request is repeated up to `retries` times, each time after the seconds in Retry-After. In a
coroutine: `await asyncio.to_thread(client.sentences, ...)`.
"""

import time
from typing import Any, Self, TypedDict, TypeVar, Unpack

import httpx2
from pydantic import TypeAdapter, ValidationError

from index.answers.answer import LanguageInfo, SentenceResponse, WordResponse
from index.answers.request import Include, SentenceRequest, WordRequest
from index.errors import PassepartoutError, UsageError
from service.schemas.problems import Problem
from service.schemas.responses import Readiness

MAX_RETRY_WAIT = 30.0  # seconds before a repetition, whatever Retry-After says
DEFAULT_RETRY_WAIT = 1.0  # seconds, without a valid Retry-After
OVERLOAD_STATUSES = (429, 503)

AnyTexts = str | list[str] | tuple[str, ...]
Answered = TypeVar("Answered")


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


class TranslationOptions(TypedDict, total=False):
    """The optional fields of a translation request."""

    source: str | None
    k: int
    min_confidence: float
    include: list[Include]


class Client:
    """A client of the service at `url`; close it after use, or use it in a `with` statement.

    key: the API key, if the service requires one. timeout: seconds for each answer. retries: how often a
    request is repeated while the service is overloaded.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        timeout: float = 10.0,
        retries: int = 2,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._url, self._retries = url, retries
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._http = httpx2.Client(base_url=_base(url), headers=headers, timeout=timeout, transport=transport)

    def sentences(
        self, text: AnyTexts, target: AnyTexts, **options: Unpack[TranslationOptions]
    ) -> SentenceResponse:
        """Translate one or more sentences into one or more languages."""
        request = SentenceRequest.model_validate({"text": text, "target": target, **options})
        return self._ask(request, SentenceResponse)

    def words(self, word: AnyTexts, target: AnyTexts, **options: Unpack[TranslationOptions]) -> WordResponse:
        """Translate one or more words into one or more languages."""
        request = WordRequest.model_validate({"word": word, "target": target, **options})
        return self._ask(request, WordResponse)

    def ask(self, request: SentenceRequest | WordRequest) -> SentenceResponse | WordResponse:
        """Send a translation request and return the answer."""
        if isinstance(request, WordRequest):
            return self._ask(request, WordResponse)
        return self._ask(request, SentenceResponse)

    def languages(self) -> list[LanguageInfo]:
        """List the languages of the index, and the targets of each."""
        return self._call("GET", "languages", list[LanguageInfo])

    def ready(self) -> Readiness:
        """Return the index version and the model served; RefusedError if the service is not ready."""
        return self._call("GET", "health/ready", Readiness)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, request: SentenceRequest | WordRequest, answer: type[Answered]) -> Answered:
        fields = request.model_dump(exclude_defaults=True)
        return self._call("POST", f"translate/{request.kind}", answer, json=fields)

    def _call(self, method: str, path: str, kind: type[Answered], **options: Any) -> Answered:  # noqa: ANN401
        """What the service answers, as `kind`; the request is repeated while the service is overloaded.

        UnreachableError if it is something else.
        """
        for attempt in range(self._retries + 1):
            try:
                response = self._http.request(method, path, **options)
            except httpx2.HTTPError as error:
                reason = str(error) or type(error).__name__
                raise UnreachableError(f"{self._url} does not answer ({reason}): is it running?") from error
            if response.status_code not in OVERLOAD_STATUSES or attempt == self._retries:
                break
            seconds = response.headers.get("Retry-After", "")
            valid = seconds.isascii() and seconds.isdigit()
            time.sleep(min(float(seconds), MAX_RETRY_WAIT) if valid else DEFAULT_RETRY_WAIT)
        try:
            if not response.is_success:
                raise RefusedError(Problem.model_validate_json(response.content))
            return TypeAdapter(kind).validate_json(response.content)
        except ValidationError:
            said = f"{response.url} gives an unknown answer ({response.status_code})"
            raise UnreachableError(f"{said}: is it a Passepartout service?") from None


def _base(url: str) -> httpx2.URL:
    """Parse the address; UsageError if it is invalid."""
    try:
        base = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise UsageError(f"{url!r} is not an address ({error}): give one such as http://host:8000") from None
    if base.scheme not in ("http", "https") or not base.host:
        raise UsageError(f"{url!r} is not an address: give one such as http://host:8000")
    return base
