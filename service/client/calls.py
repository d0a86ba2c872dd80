"""The requests of the API, written once for the sync and the async client."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypedDict, TypeVar, Unpack

from pydantic import TypeAdapter

from index.answers.answer import SentenceResponse, WordResponse
from index.answers.request import Include, SentenceRequest, WordRequest
from service.schemas import (
    Concordance,
    Language,
    Readiness,
    TeachingPictures,
    TranslatedFile,
)
from service.schemas.jobs import Compression, Format, Job, Jobs, Request, Upload, Versions

UPLOAD_SECONDS = 600.0  # for a whole file
LANGUAGE_LIST = TypeAdapter(list[Language])
Result = TypeVar("Result")
Texts = str | list[str] | tuple[str, ...]


@dataclass(frozen=True)
class Call(Generic[Result]):
    """A request to the API. `read` makes the result of the answer, ValueError if it cannot; `options` are
    those of httpx's `request`; `follow` gives a second request, made once the first has been answered."""

    method: str
    path: str
    read: Callable[[bytes], Result]
    options: dict[str, Any] = field(default_factory=dict)
    follow: "Callable[[Result], Call[Result]] | None" = None


class TranslationOptions(TypedDict, total=False):
    """The optional fields of a translation request."""

    source: str | None
    k: int
    min_confidence: float
    include: list[Include]


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


class Description(TypedDict, total=False):
    """The description of an uploaded file.

    language: of its sentences, for formats that do not state it. name: the file's name in error messages.
    columns: what the columns of a table mean, such as `en=English,de=German`.
    """

    compression: Compression
    language: str
    name: str
    columns: str


def sentences(text: Texts, target: Texts, **options: Unpack[TranslationOptions]) -> Call[SentenceResponse]:
    """Translate one or more sentences into one or more languages."""
    return _translation(SentenceRequest(text=_list(text), target=_list(target), **options), SentenceResponse)


def words(word: Texts, target: Texts, **options: Unpack[TranslationOptions]) -> Call[WordResponse]:
    """Translate one or more words into one or more languages."""
    return _translation(WordRequest(word=_list(word), target=_list(target), **options), WordResponse)


def ask(request: SentenceRequest | WordRequest) -> Call[SentenceResponse | WordResponse]:
    """Send a translation request and return the answer."""
    return _translation(request, WordResponse if isinstance(request, WordRequest) else SentenceResponse)


def languages() -> Call[list[Language]]:
    """List the languages of the index, and the targets of each."""
    return Call("GET", "languages", LANGUAGE_LIST.validate_json)


def concordance(
    text: str | None, source: str, target: Texts = (), **page: Unpack[PageOptions]
) -> Call[Concordance]:
    """Find the sentences of a language that contain a word or phrase, or all; with their translations."""
    params = _given(text=text, source=source, target=_list(target) or None, **page)
    return Call("GET", "concordance", Concordance.model_validate_json, {"params": params})


def teaching_pictures(count: int | None = None) -> Call[TeachingPictures]:
    """List pictograms to caption in a new language, those first that represent the others best."""
    params = _given(count=count)
    return Call("GET", "teach/pictures", TeachingPictures.model_validate_json, {"params": params})


def translate_file(
    path: Path, out: Path, target: str, **options: Unpack[FileOptions]
) -> Call[TranslatedFile]:
    """Translate a PO, XLIFF, TMX, JSON or text file from the translation memory into `out`.

    Texts that the memory does not have stay empty; the result counts them. Raises OSError.
    """
    fuzzy = options.get("fuzzy")
    fields = _given(
        target=target, source=options.get("source"), fuzzy=None if fuzzy is None else str(fuzzy).lower()
    )
    sent = {"data": fields, "files": {"file": (path.name, path.read_bytes())}}

    def fetch(filled: TranslatedFile) -> Call[TranslatedFile]:
        def write(content: bytes) -> TranslatedFile:
            out.write_bytes(content)
            return filled

        # Only the file's name is used: behind a proxy, the service may state another address than ours.
        return Call("GET", f"download_file/{filled.translatedFileUrl.rpartition('/')[2]}", write)

    return Call("POST", "translate_file", TranslatedFile.model_validate_json, sent, fetch)


def ready() -> Call[Readiness]:
    """Return the index version and the model served; RefusedError if the service is not ready."""
    return Call("GET", "health/ready", Readiness.model_validate_json)


def upload(content: Path | bytes, form: Format, **description: Unpack[Description]) -> Call[Upload]:
    """Upload a corpus file for a job, with the key of an admin, as all that follow. Raises OSError."""
    if isinstance(content, Path):
        description = {"name": content.name, **description}
        content = content.read_bytes()
    sent = {
        "params": {"format": form, **description},
        "content": content,
        "headers": {"Content-Type": "application/octet-stream"},
        "timeout": UPLOAD_SECONDS,
    }
    return Call("POST", "admin/uploads", Upload.model_validate_json, sent)


def submit(change: Request, *, key: str | None = None) -> Call[Job]:
    """Submit a job that changes the index. Submitted again with the same `key`, it is still one job."""
    headers = {} if key is None else {"Idempotency-Key": key}
    sent = {"json": change.model_dump(exclude_defaults=True), "headers": headers}
    return Call("POST", "admin/jobs", Job.model_validate_json, sent)


def job(job_id: str) -> Call[Job]:
    """Return the state of a job."""
    return Call("GET", f"admin/jobs/{job_id}", Job.model_validate_json)


def cancel(job_id: str) -> Call[Job]:
    """Cancel a job, queued or running; one that has ended stays as it is."""
    return Call("POST", f"admin/jobs/{job_id}/cancel", Job.model_validate_json)


def jobs() -> Call[Jobs]:
    """List the latest jobs, newest first, and count the workers."""
    return Call("GET", "admin/jobs", Jobs.model_validate_json)


def versions() -> Call[Versions]:
    """List the versions of the index, newest first."""
    return Call("GET", "admin/versions", Versions.model_validate_json)


def _translation(request: SentenceRequest | WordRequest, answer: Any) -> Call[Any]:  # noqa: ANN401
    path = "translate/word" if isinstance(request, WordRequest) else "translate/sentence"
    return Call("POST", path, answer.model_validate_json, {"json": request.model_dump(exclude_defaults=True)})


def _list(given: Texts) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _given(**values: object) -> dict[str, Any]:
    """Leave out what is None."""
    return {name: value for name, value in values.items() if value is not None}
