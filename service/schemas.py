"""What the native API takes and gives, as pydantic models. Limits that settings can move are in checks.py."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, WithJsonSchema
from pydantic.config import JsonDict

Kind = Literal["sentence", "word"]


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _one_or_more(description: str) -> WithJsonSchema:
    one = {"type": "string", "minLength": 1}
    return WithJsonSchema(
        {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}], "description": description}
    )


Texts = Annotated[
    list[StrictStr],
    BeforeValidator(_as_list),
    Field(min_length=1),
    _one_or_more("One text, or a list of them."),
]
Targets = Annotated[
    list[StrictStr],
    BeforeValidator(_as_list),
    Field(min_length=1),
    _one_or_more("Language code to translate into, or a list of them."),
]


class Choices(BaseModel):
    """What both kinds of request share."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: StrictStr | None = Field(
        default=None, description="Language code of the texts; left out, each text's language is detected."
    )
    target: Targets
    k: Annotated[int, Field(strict=True, ge=1, description="Most answers for a text and target.")] = 1
    min_confidence: Annotated[
        float,
        Field(
            strict=True,
            ge=0,
            le=1,
            allow_inf_nan=False,
            description="Answers less likely than this are left out.",
        ),
    ] = 0.0


SENTENCE_EXAMPLE: JsonDict = {
    "text": "A dog runs on the beach.",
    "source": "en",
    "target": ["de", "pt"],
    "k": 3,
    "min_confidence": 0.2,
}
WORD_EXAMPLE: JsonDict = {"word": "dog", "source": "en", "target": ["de", "pt"], "k": 3}


class SentenceRequest(Choices):
    model_config = ConfigDict(json_schema_extra={"examples": [SENTENCE_EXAMPLE]})

    text: Texts

    @property
    def texts(self) -> list[str]:
        return self.text


class WordRequest(Choices):
    model_config = ConfigDict(json_schema_extra={"examples": [WORD_EXAMPLE]})

    word: Texts

    @property
    def texts(self) -> list[str]:
        return self.word


class Answer(BaseModel):
    """One sentence or word of the index that may be the translation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    score: float = Field(allow_inf_nan=False, description="What the answers are ranked by, highest first.")
    confidence: float = Field(ge=0, le=1, description="Estimated probability that this is a translation.")
    id: str = Field(description="Where it stands in the index.", examples=["de:41"])
    metadata: dict[str, Any] = Field(description="What the corpus says of it.")


Translations = Annotated[
    dict[str, list[Answer]],
    Field(description="The answers for each target, best first; none where nothing reached min_confidence."),
]


class SentenceResult(BaseModel):
    text: str = Field(description="The text as it was sent.")
    source: str = Field(description="The language code given, or the one detected.")
    translations: Translations


class WordResult(BaseModel):
    word: str = Field(description="The word as it was sent.")
    source: str = Field(description="The language code given, or the one detected.")
    translations: Translations


class Response(BaseModel):
    """What both kinds of answer share."""

    model: str = Field(description="Name and version of the encoder.", examples=["small@1"])
    index: str = Field(description="Version of the index.", examples=["20261120-1"])


DOG: JsonDict = {
    "text": "Ein Hund rennt am Strand.",
    "score": 0.71,
    "confidence": 0.83,
    "id": "de:41",
    "metadata": {},
}
HUND: JsonDict = {"text": "hund", "score": 0.64, "confidence": 0.9, "id": "de:word:hund", "metadata": {}}


class SentenceResponse(Response):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "small@1",
                    "index": "20261120-1",
                    "results": [
                        {
                            "text": "A dog runs on the beach.",
                            "source": "en",
                            "translations": {"de": [DOG], "pt": []},
                        }
                    ],
                }
            ]
        }
    )

    results: list[SentenceResult] = Field(description="One result a text, in the order they were sent.")


class WordResponse(Response):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "small@1",
                    "index": "20261120-1",
                    "results": [{"word": "dog", "source": "en", "translations": {"de": [HUND], "pt": []}}],
                }
            ]
        }
    )

    results: list[WordResult] = Field(description="One result a word, in the order they were sent.")


class Language(BaseModel):
    """A language of the index."""

    code: str = Field(description="BCP 47 code.", examples=["de"])
    name: str = Field(examples=["German"])
    targets: list[str] = Field(description="Codes of the languages it can be translated into.")
    sentences: int = Field(description="Sentences of this language in the index.")
    words: int = Field(description="Words of this language in the index.")
    calibrated: bool = Field(
        description="Whether the confidences of sentences were fitted to data; if not, and for words always, "
        "they are a fixed function of the score."
    )


class Health(BaseModel):
    status: Literal["live", "ready"]


class Readiness(Response):
    status: Literal["ready"] = "ready"
