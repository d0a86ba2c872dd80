"""Requests for translations, as HTTP takes them and `passepartout translate` and the client make them."""

from typing import Annotated, ClassVar, Literal, NamedTuple, get_args

from pydantic import BeforeValidator, ConfigDict, Field, StrictStr, WithJsonSchema, model_validator
from pydantic.config import JsonDict

from index.confidence import MIN_CONFIDENCE
from index.frozen import Frozen

Kind = Literal["sentence", "word"]
Include = Literal["near", "pictograms"]
MOST_FIELDS = 32


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _one_or_more(description: str) -> WithJsonSchema:
    text = {"type": "string", "minLength": 1}
    return WithJsonSchema(
        {"anyOf": [text, {"type": "array", "items": text, "minItems": 1}], "description": description}
    )


Strings = Annotated[list[StrictStr], Field(min_length=1, fail_fast=True), BeforeValidator(_as_list)]
Texts = Annotated[Strings, _one_or_more("A text, or a list of texts.")]
Targets = Annotated[
    Strings,
    _one_or_more(
        "Language code to translate into, or a list of them; the `source` of sentences itself finds "
        "what means the same."
    ),
]


class Query(NamedTuple):
    """A cleaned text to translate from one language into another, with up to `k` answers."""

    kind: Kind
    text: str
    source: str
    target: str
    k: int = 1


class RequestModel(Frozen):
    """The base of request bodies. Very many fields are refused at once: each would be an error of its own."""

    @model_validator(mode="before")
    @classmethod
    def _few_fields(cls, fields: object) -> object:
        if isinstance(fields, dict) and len(fields) > MOST_FIELDS:
            raise ValueError(f"it has more than {MOST_FIELDS} fields")
        return fields


class Choices(RequestModel):
    """What to return, and in which languages."""

    source: StrictStr | None = Field(
        default=None,
        description="Language code of the texts; if left out, the language of each text is detected.",
        examples=["en"],
    )
    target: Targets
    k: Annotated[
        int, Field(strict=True, ge=1, description="Highest number of answers per text and target.")
    ] = 1
    min_confidence: Annotated[
        float,
        Field(
            strict=True,
            ge=0,
            le=1,
            allow_inf_nan=False,
            description="Answers with a lower confidence are left out; but see `near` of `include`.",
        ),
    ] = MIN_CONFIDENCE
    include: Annotated[
        list[Include],
        Field(
            max_length=len(get_args(Include)),
            fail_fast=True,
            description="What else to return. `near`: what is nearest among the sentences below "
            "`min_confidence`, with other details. `pictograms`: the pictograms nearest to texts and "
            "answers, as emoji.",
        ),
    ] = Field(default=[])


SENTENCE_EXAMPLE: JsonDict = {
    "text": "A dog runs on the beach.",
    "source": "en",
    "target": ["de", "pt"],
    "k": 3,
    "min_confidence": 0.2,
}
SEVERAL_EXAMPLE: JsonDict = {
    "text": ["Two children play in the snow.", "A man plays the guitar."],
    "target": "de",
    "include": ["near", "pictograms"],
}
WORD_EXAMPLE: JsonDict = {"word": "dog", "source": "en", "target": ["de", "pt"], "k": 3}


class SentenceRequest(Choices):
    """Sentences to translate."""

    model_config = ConfigDict(json_schema_extra={"examples": [SENTENCE_EXAMPLE, SEVERAL_EXAMPLE]})

    kind: ClassVar[Kind] = "sentence"
    text: Texts

    @property
    def texts(self) -> list[str]:
        return self.text


class WordRequest(Choices):
    """Words to translate."""

    model_config = ConfigDict(json_schema_extra={"examples": [WORD_EXAMPLE]})

    kind: ClassVar[Kind] = "word"
    word: Texts

    @property
    def texts(self) -> list[str]:
        return self.word


Request = SentenceRequest | WordRequest
