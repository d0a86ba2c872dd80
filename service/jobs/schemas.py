"""Requests and responses of the API about jobs, uploads and versions."""

from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StrictBool, model_validator
from pydantic.config import JsonDict

from index.storage.index_manifest import VERSION_ID as VERSION
from index.storage.manifest import LANGUAGE_CODE


class UnreachableError(Exception):
    """The Redis that keeps the jobs does not answer."""


class ReusedError(Exception):
    """The idempotency key has been used for another request."""


JOB_ID = r"^[0-9a-f]{32}$"
IDEMPOTENCY_KEY = r"^[A-Za-z0-9._-]{1,64}$"
# LANG:ID, the id of a sentence in answers.
SENTENCE_ID = rf"^{LANGUAGE_CODE[1:-1]}:[^\x00-\x1f]{{1,200}}$"
RESERVED_COLUMNS = frozenset({"id", "text", "language", "lang", "group", "translation", "metadata"})

State = Literal["queued", "running", "succeeded", "failed", "cancelled"]
END_STATES: frozenset[State] = frozenset({"succeeded", "failed", "cancelled"})
Format = Literal["txt", "tsv", "csv", "jsonl", "tmx", "xliff", "po", "cldr"]
Compression = Literal["none", "gz", "bz2", "xz", "zst"]
UploadId = Annotated[str, Field(pattern=JOB_ID, examples=["5d41402abc4b2a76b9719d911017c592"])]
SentenceId = Annotated[str, Field(pattern=SENTENCE_ID, examples=["de:41"])]


class RequestModel(BaseModel):
    """The base of request bodies: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NewSentence(RequestModel):
    """A sentence with its id: LANG:ID, as in answers."""

    id: SentenceId
    text: Annotated[str, Field(min_length=1, max_length=100_000)]
    metadata: dict[str, Any] = Field(
        default_factory=dict,
        description="Given back with answers; the names of the other fields are taken.",
    )
    group: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="Sentences of one group, in any language, translate each other."
    )

    @model_validator(mode="after")
    def _none_reserved(self) -> Self:
        if taken := RESERVED_COLUMNS & set(self.metadata):
            raise ValueError(f"metadata cannot have {min(taken)}")
        return self


class _Sources(RequestModel):
    """Sentences in the request, or the ids of uploads."""

    sentences: Annotated[list[NewSentence], Field(max_length=5_000, fail_fast=True)] = []
    uploads: Annotated[list[UploadId], Field(max_length=64)] = []

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if bool(self.sentences) == bool(self.uploads):
            raise ValueError("give sentences or uploads")
        return self


EXAMPLE_SENTENCE: JsonDict = {
    "id": "de:hund-1",
    "text": "Ein Hund schläft im Korb.",
    "metadata": {"project": "pets"},
}
SOME_UPLOAD = "5d41402abc4b2a76b9719d911017c592"


class Add(_Sources):
    """Add sentences, whose ids must be new. Those of uploads are LANG:FILE:ID, or LANG:ID if `own_ids`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"action": "add", "sentences": [EXAMPLE_SENTENCE]},
                {"action": "add", "uploads": [SOME_UPLOAD]},
            ]
        }
    )

    action: Literal["add"]
    own_ids: StrictBool = False


class Replace(_Sources):
    """Give sentences another text and metadata, by their ids."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"action": "replace", "sentences": [{"id": "de:41", "text": "Ein Hund!"}]}]
        }
    )

    action: Literal["replace"]


class Delete(RequestModel):
    """Take sentences out by their ids."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"action": "delete", "ids": ["de:41"]}]})

    action: Literal["delete"]
    ids: Annotated[list[SentenceId], Field(min_length=1, max_length=50_000, fail_fast=True)]


class Build(RequestModel):
    """Put uploads in the place of all that the index holds; its encoder and options stay."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"action": "build", "uploads": [SOME_UPLOAD]}]})

    action: Literal["build"]
    uploads: Annotated[list[UploadId], Field(min_length=1, max_length=64)]


class Rollback(RequestModel):
    """Serve another version, after checking every file of it; the one before where none is named."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"action": "rollback", "version": "20261120-1"}]}
    )

    action: Literal["rollback"]
    version: Annotated[str, Field(pattern=f"^{VERSION.pattern}$")] | None = None


class Collect(RequestModel):
    """Remove all versions but the latest `keep` and the one served, and what builds left that did not end."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"action": "gc", "keep": 2}]})

    action: Literal["gc"]
    keep: Annotated[int, Field(strict=True, ge=1, le=1000)] = 2


class TaughtCaption(RequestModel):
    """What a picture that the encoder carries is called, or a phrase about it, in the new language."""

    picture: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]+$")]
    text: Annotated[str, Field(min_length=1, max_length=1000, pattern=r"\S")]


class Teach(RequestModel):
    """Teach the encoder one more language from captions of its own pictures."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "action": "teach",
                    "language": "eo",
                    "captions": [{"picture": "pictograms/1f415", "text": "hundo"}],
                }
            ]
        }
    )

    action: Literal["teach"]
    language: Annotated[str, Field(pattern=LANGUAGE_CODE)]
    captions: Annotated[list[TaughtCaption], Field(min_length=1, max_length=5_000, fail_fast=True)]


Request = Annotated[
    Add | Replace | Delete | Build | Rollback | Collect | Teach,
    Field(discriminator="action"),
]


class Spec(RequestModel):
    """A request and the name of the admin's key that sent it, as queued for a worker."""

    request: Request
    by: str | None


class Taught(BaseModel):
    """What was learned of a language."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: str = Field(examples=["eo"])
    lines: int = Field(description="How many captions.", examples=[300])
    asked: int = Field(description="Lines about a tenth of the pictures, held out to measure.", examples=[30])
    r10: float | None = Field(
        default=None, description="In how many of 100 of them the picture is among the ten nearest."
    )
    chance: float | None = Field(default=None, description="The same for pictures drawn by lot.")
    next_pictures: list[str] = Field(description="What to caption next, best first.")


class Event(BaseModel):
    """What became of a job: a part of its work begun, gone on or done, or its end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: State
    stage: str | None = Field(default=None, description="The part of the work.", examples=["encode de"])
    done: int | None = Field(default=None, description="How much of that part is done.", examples=[120])
    total: int | None = Field(default=None, description="How much there is of it, about.", examples=[300])
    unit: str | None = Field(default=None, examples=["sentences"])
    version: str | None = Field(
        default=None,
        description="The version that the index has by it, once it has succeeded.",
        examples=["20261120-2"],
    )
    dropped: dict[str, int] | None = Field(
        default=None,
        description="How many sentences cleaning left out, by reason.",
        examples=[{"duplicate": 2}],
    )
    skipped: int | None = Field(
        default=None,
        description="How many lines or units of the files were not what they should be.",
        examples=[1],
    )
    skipped_units: list[str] | None = Field(
        default=None,
        description="The first of them, each with file, line and reason.",
        examples=[["sentences.tsv, line 7: 3 cells, but line 1 names 2: mend the line"]],
    )
    taught: Taught | None = Field(default=None, description="What was learned of a language.")
    reason: str | None = Field(
        default=None, description="Why it failed and what to change, in one line.", examples=[None]
    )


class Job(Event):
    id: str = Field(pattern=JOB_ID, examples=["7b52009b64fd0a2a49e6d8a939753077"])
    action: Literal["add", "replace", "delete", "build", "rollback", "gc", "teach"]
    by: str | None = Field(description="The name of the admin's key.", examples=["boss"])
    created: AwareDatetime
    ended: AwareDatetime | None
    attempts: int = Field(description="How often it was begun: more than once where a worker died.")


class Jobs(BaseModel):
    jobs: list[Job] = Field(description="The latest 100, newest first.")
    workers: int = Field(description="Worker processes that take jobs; 0: start `passepartout jobs`.")


class Upload(BaseModel):
    """A corpus file that waits for a job."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: UploadId
    file: str = Field(
        description="What its sentences' ids and metadata call it.", examples=["5eb63bbbe01eeed0.tmx"]
    )
    format: Format
    compression: Compression
    language: str | None
    name: str | None = Field(
        default=None, description="The name of the user's own file, which errors call it by.", examples=[None]
    )
    columns: str | None = Field(
        default=None,
        description="What the columns of a table are, such as en=English,de=German.",
        examples=[None],
    )
    bytes: int
    sha256: str
    created: AwareDatetime


class Uploads(BaseModel):
    uploads: list[Upload] = Field(description="Newest first.")


class Version(BaseModel):
    id: str = Field(examples=["20261120-1"])
    base: str | None = Field(description="The version that was changed to make it.")
    created: AwareDatetime
    model: str = Field(examples=["small@1"])
    sentences: dict[str, int] = Field(description="How many of each language.", examples=[{"de": 322}])


class Versions(BaseModel):
    current: str = Field(description="The version that the index names.")
    served: str = Field(description="The version that this process answers from: another while that is bad.")
    versions: list[Version] = Field(description="Newest first.")


def example(of: type[BaseModel]) -> dict[str, Any]:
    """The first example in the JSON schema of a model."""
    document: dict[str, Any] = of.model_json_schema()["examples"][0]
    return document
