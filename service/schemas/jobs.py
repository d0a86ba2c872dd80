"""Jobs, uploads and versions: the requests and responses of the administrative API."""

import json
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, Field, StrictBool, field_validator, model_validator

from index.answers.request import RequestModel
from index.formats.registry import FORMATS
from index.formats.sentence import LONGEST_METADATA
from index.frozen import Frozen
from index.languages import LANGUAGE_CODE
from index.storage.manifest import VERSION_ID

IF_MATCH = rf'^"?{VERSION_ID.pattern}"?$'
JOB_ID = r"^[0-9a-f]{32}$"
SENTENCE_ID = rf"^{LANGUAGE_CODE[1:-1]}:[^\x00-\x1f]{{1,200}}$"
FILE_NAME = r"^[^/\\\x00-\x1f\x7f]{1,200}$"  # no separator of folders, no control character
RESERVED_COLUMNS = frozenset({"id", "text", "language", "lang", "group", "translation", "metadata"})

State = Literal["queued", "running", "succeeded", "failed", "cancelled"]
END_STATES: frozenset[State] = frozenset({"succeeded", "failed", "cancelled"})
UploadId = Annotated[str, Field(pattern=JOB_ID, description="The id that an upload was given.")]
SentenceId = Annotated[
    str,
    Field(
        pattern=SENTENCE_ID,
        description="The sentence's id in answers: LANG:ID, where LANG is its language code.",
    ),
]


class NewSentence(RequestModel):
    """A sentence to add, or the new text of one."""

    id: SentenceId
    text: Annotated[str, Field(min_length=1, max_length=100_000, description="The sentence itself.")]
    metadata: dict[str, Any] = Field(
        default_factory=dict,
        max_length=100,
        description="Anything else to store; answers return it. The names "
        f"{', '.join(sorted(RESERVED_COLUMNS))} are reserved.",
    )
    group: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None,
        description="A name of your choice. Sentences with the same group, in any language, are translations "
        "of each other.",
    )

    @model_validator(mode="after")
    def _metadata_is_json(self) -> Self:
        if taken := RESERVED_COLUMNS & set(self.metadata):
            raise ValueError(f"metadata cannot contain {min(taken)}")
        text = json.dumps(self.metadata, ensure_ascii=False, allow_nan=False)  # ValueError if it is no JSON
        text.encode()
        if len(text) > LONGEST_METADATA:
            raise ValueError(f"metadata is longer than {LONGEST_METADATA} characters of JSON: shorten it")
        return self


class _Sources(RequestModel):
    """Sentences in the request, or the ids of uploads."""

    sentences: Annotated[
        list[NewSentence],
        Field(max_length=2_000, fail_fast=True, description="The sentences; give these or `uploads`."),
    ] = Field(default=[])
    uploads: Annotated[
        list[UploadId],
        Field(max_length=64, description="Uploaded corpus files; give these or `sentences`."),
    ] = Field(default=[])

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if bool(self.sentences) == bool(self.uploads):
            raise ValueError("give sentences or uploads")
        return self


class Add(_Sources):
    """Add sentences. Their ids must be new."""

    action: Literal["add"]
    own_ids: StrictBool = Field(
        default=False,
        description="Which ids the sentences of uploads get: LANG:ID, as in the file, if true; LANG:FILE:ID, "
        "which cannot clash with other files, if false.",
    )


class Replace(_Sources):
    """Give sentences that the index has, named by id, another text and other metadata."""

    action: Literal["replace"]


class Delete(RequestModel):
    """Remove sentences, named by id."""

    action: Literal["delete"]
    ids: Annotated[
        list[SentenceId],
        Field(min_length=1, max_length=20_000, fail_fast=True, description="The sentences to remove."),
    ]


class Build(RequestModel):
    """Build the index anew from uploads, with the encoder and options that it has now."""

    action: Literal["build"]
    uploads: Annotated[
        list[UploadId],
        Field(min_length=1, max_length=64, description="The corpus files; all else is dropped."),
    ]


class Rollback(RequestModel):
    """Serve an earlier version again, once every file of it has been checked."""

    action: Literal["rollback"]
    version: Annotated[str, Field(pattern=f"^{VERSION_ID.pattern}$")] | None = Field(
        default=None, description="The version to serve; the previous one if left out."
    )


class Collect(RequestModel):
    """Delete old versions and the remains of interrupted builds. The version served is always kept."""

    action: Literal["gc"]
    keep: Annotated[
        int, Field(strict=True, ge=1, le=1000, description="How many of the latest versions to keep.")
    ] = 2


class TaughtCaption(RequestModel):
    """A word or phrase for a picture in the new language."""

    picture: Annotated[
        str,
        Field(
            min_length=1,
            max_length=100,
            pattern=r"^[^\x00-\x1f]+$",
            description="A picture that the encoder carries, as GET /teach/pictures names it.",
        ),
    ]
    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1000,
            pattern=r"\S",
            description="What the picture shows, in the new language.",
        ),
    ]


class Teach(RequestModel):
    """Teach the encoder one more language from captions of the pictures that it carries."""

    action: Literal["teach"]
    language: Annotated[str, Field(pattern=LANGUAGE_CODE, description="BCP 47 code of the new language.")]
    captions: Annotated[
        list[TaughtCaption],
        Field(min_length=1, max_length=2_000, fail_fast=True, description="The captions to learn from."),
    ]


JobRequest = Annotated[
    Add | Replace | Delete | Build | Rollback | Collect | Teach,
    Field(discriminator="action"),
]


class Spec(RequestModel):
    """A request and the name of the admin's key that sent it, as queued for a worker.

    `version` is the only one that may be changed, where the request names one.
    """

    request: JobRequest
    by: str | None
    version: str | None = None


class Taught(Frozen):
    """How well a taught language was learned."""

    language: str = Field(description="BCP 47 code of the language.")
    lines: int = Field(description="Captions given.")
    asked: int = Field(
        description="Captions, about a tenth of all, that were held out of a first lesson to measure it."
    )
    r10: float | None = Field(
        default=None, description="Per cent of these that find their picture among the ten nearest."
    )
    chance: float | None = Field(
        default=None, description="The same, per cent, if pictures were drawn at random."
    )
    next_pictures: list[str] = Field(
        description="Pictures that would teach it most if captioned next, best first."
    )


class Event(Frozen):
    """The state of a job, and what is known of its progress or its result."""

    state: State = Field(description="Where the job stands.")
    stage: str | None = Field(default=None, description="What it is doing now.")
    done: int | None = Field(default=None, description="Units of this stage done.")
    total: int | None = Field(default=None, description="Units of this stage, about.")
    unit: str | None = Field(default=None, description="What `done` and `total` count.")
    version: str | None = Field(
        default=None, description="The version that the job has made, once it has succeeded."
    )
    dropped: dict[str, int] | None = Field(
        default=None, description="Sentences that cleaning dropped, by reason."
    )
    skipped: int | None = Field(
        default=None, description="Lines or units of the files that were malformed and hence skipped."
    )
    skipped_units: list[str] | None = Field(
        default=None, description="The first of these, each with file, line and reason."
    )
    taught: Taught | None = Field(
        default=None, description="How well the language was learned, once `teach` has succeeded."
    )
    reason: str | None = Field(default=None, description="Why it failed and what to change, in one line.")


class Job(Event):
    """A change of the index: queued, running or ended."""

    id: str = Field(pattern=JOB_ID, description="The job's id.")
    action: Literal["add", "replace", "delete", "build", "rollback", "gc", "teach"] = Field(
        description="What the job does, as requested."
    )
    by: str | None = Field(
        description="The name of the admin key that requested it; null where none is needed."
    )
    created: AwareDatetime = Field(description="When it was queued.")
    attempts: int = Field(description="How often it was started: more than once if a worker died.")


class Jobs(BaseModel):
    """The latest jobs, and whether anything works on them."""

    jobs: list[Job] = Field(description="The latest 100, newest first.")
    workers: int = Field(description="Worker processes running; if 0, start one with `passepartout jobs`.")


class UploadOptions(Frozen):
    """What an uploaded file is."""

    name: Annotated[str, Field(pattern=FILE_NAME)] | None = Field(
        default=None,
        description="The name of the file on the user's machine, for errors; its extensions say the format "
        "and the compression (.gz .bz2 .xz .zst).",
    )
    format: str | None = Field(
        default=None,
        description="The format of the file, if not as its name says.",
        json_schema_extra={"enum": [*FORMATS, None]},
    )
    language: Annotated[str, Field(pattern=LANGUAGE_CODE)] | None = Field(
        default=None, description="The language of its sentences, for formats that do not state it."
    )
    columns: Annotated[str, Field(max_length=1000)] | None = Field(
        default=None,
        description="What the columns of a table mean: LANGUAGE=COLUMN or MEANING=COLUMN, with commas.",
    )

    @field_validator("format")
    @classmethod
    def _known(cls, form: str | None) -> str | None:
        if form is not None and form not in FORMATS:
            raise ValueError(f"must be one of {', '.join(FORMATS)}")
        return form


class Upload(UploadOptions):
    """A corpus file that is waiting for a job."""

    id: UploadId
    file: str = Field(description="The name that ids and metadata of its sentences get.")
    bytes: int = Field(description="The size of the file as uploaded.")
    sha256: str = Field(description="The SHA-256 of the file as uploaded, in hexadecimal.")
    created: AwareDatetime = Field(description="When it was uploaded.")


class Version(BaseModel):
    """A version of the index, complete and unchangeable."""

    id: str = Field(validation_alias="version", description="Its id: the day it was made, and a number.")
    base: str | None = Field(description="The version that it is a change of; null if built anew.")
    created: AwareDatetime = Field(description="When it was made.")
    model: str = Field(description="Name and version of its encoder.")
    sentences: dict[str, int] = Field(description="Sentences, by language.")


class Versions(BaseModel):
    """The versions of the index, and which of them answers."""

    current: str | None = Field(description="The version to be served; null if CURRENT is damaged.")
    served: str = Field(
        description="The version that this process serves; an earlier one if `current` is damaged or only "
        "just published."
    )
    versions: list[Version] = Field(description="The newest first.")
