"""Responses with translations, one result per text or word."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from service.schemas.answers import Answer, Pictograms

Translations = Annotated[
    dict[str, list[Answer]],
    Field(description="The answers for each target, best first; none where nothing reached min_confidence."),
]


class PartResult(BaseModel):
    """One sentence of a text."""

    text: str = Field(description="The sentence.")
    translations: Translations


class SentenceResult(BaseModel):
    text: str = Field(description="The text as it was sent.")
    source: str = Field(description="The language code given, or the one detected.")
    translations: Translations
    sentences: list[PartResult] | None = Field(
        default=None,
        exclude_if=lambda parts: parts is None,
        description="Its sentences, each answered by itself, where the text is more than one.",
    )
    pictograms: Pictograms = None

    @property
    def asked(self) -> str:
        return self.text


class WordResult(BaseModel):
    word: str = Field(description="The word as it was sent.")
    source: str = Field(description="The language code given, or the one detected.")
    translations: Translations
    pictograms: Pictograms = None

    @property
    def asked(self) -> str:
        return self.word


class Response(BaseModel):
    """What both kinds of answer share."""

    model: str = Field(description="Name and version of the encoder.", examples=["small@1"])
    index: str = Field(description="Version of the index.", examples=["20261120-1"])


EXAMPLE_ANSWER: JsonDict = {
    "text": "Ein Hund rennt am Strand.",
    "score": 0.71,
    "confidence": 0.83,
    "id": "de:41",
    "match": "translation",
    "similarity": None,
    "original": None,
    "penalties": [],
    "differs": {"question": [], "answer": []},
    "metadata": {"file": "de.txt"},
    "explanation": {
        "cosine": 0.9,
        "question_mean": 0.53,
        "answer_mean": 0.56,
        "margin": 0.2,
        "candidates": 200,
        "agreement": {
            "direct": {"text": "A dog runs on the beach.", "id": "en:41", "cosine": 1.0},
            "via": [
                {
                    "language": "pt",
                    "text": "Um cachorro corre na praia.",
                    "id": "pt:41",
                    "question": 0.89,
                    "answer": 0.91,
                    "place": 1,
                }
            ],
        },
    },
}
EXAMPLE_WORD: JsonDict = {
    "text": "Hund",
    "score": 0.64,
    "confidence": 0.9,
    "id": "de:word:hund",
    "match": "translation",
    "similarity": None,
    "original": None,
    "penalties": [],
    "in_vocabulary": True,
    "examples": ["Ein Hund rennt am Strand."],
    "metadata": {},
}


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
                            "translations": {"de": [EXAMPLE_ANSWER], "pt": []},
                        }
                    ],
                }
            ]
        }
    )

    results: list[SentenceResult] = Field(description="One result per text, in the order sent.")


class WordResponse(Response):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "small@1",
                    "index": "20261120-1",
                    "results": [
                        {"word": "dog", "source": "en", "translations": {"de": [EXAMPLE_WORD], "pt": []}}
                    ],
                }
            ]
        }
    )

    results: list[WordResult] = Field(description="One result per word, in the order sent.")


class Health(BaseModel):
    status: Literal["live", "ready"]


class Readiness(Response):
    status: Literal["ready"] = "ready"


class Translation(BaseModel):
    """A sentence that the corpus aligns with another."""

    text: str
    id: str = Field(examples=["de:41"])


class Found(BaseModel):
    """A sentence with the phrase in it."""

    text: str
    id: str = Field(examples=["en:41"])
    places: list[tuple[int, int]] = Field(
        description="Where the phrase stands in it: begin and end, in Unicode characters."
    )
    metadata: dict[str, Any] = Field(description="What the corpus says of it.")
    translations: dict[str, list[Translation]] = Field(
        description="What the corpus aligns with it, by target."
    )


class Concordance(Response):
    """Sentences with a phrase in them, in the order of the corpus."""

    text: str | None
    source: str
    results: list[Found]
    next: int | None = Field(
        description="Send it as `begin` for the sentences that follow; null where there are none."
    )


class TeachingPicture(BaseModel):
    """A pictogram that the encoder carries."""

    picture: str = Field(examples=["pictograms/1f415"])
    emoji: str = Field(examples=["🐕"])


class TeachingPictures(Response):
    """Pictograms, those that say most about the others first."""

    results: list[TeachingPicture]
