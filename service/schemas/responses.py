"""Responses of the native API."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from service.schemas.answers import Answer, Pictograms

Translations = Annotated[
    dict[str, list[Answer]],
    Field(
        description="Target language code -> answers, the best first; empty if none reaches `min_confidence`."
    ),
]


class PartResult(BaseModel):
    """The translations of one sentence of a text."""

    text: str = Field(description="The sentence.")
    translations: Translations


class SentenceResult(BaseModel):
    """The translations of a text."""

    text: str = Field(description="The text as sent.")
    source: str = Field(description="Language code of the text, as given or detected.", examples=["en"])
    translations: Translations
    sentences: list[PartResult] | None = Field(
        default=None,
        exclude_if=lambda parts: parts is None,
        description="The sentences of the text, each translated on its own; only if there are several.",
    )
    pictograms: Pictograms = None

    @property
    def asked(self) -> str:
        return self.text


class WordResult(BaseModel):
    """The translations of a word."""

    word: str = Field(description="The word as sent.")
    source: str = Field(description="Language code of the text, as given or detected.", examples=["en"])
    translations: Translations
    pictograms: Pictograms = None

    @property
    def asked(self) -> str:
        return self.word


class Response(BaseModel):
    """What answered: an encoder and an index."""

    model: str = Field(description="Name and version of the encoder.", examples=["small@1"])
    index: str = Field(description="Id of the index version.", examples=["20261120-1"])


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
    """Translations of sentences."""

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
    """Translations of words."""

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


class Liveness(BaseModel):
    """The process serves requests."""

    status: Literal["live"] = Field(default="live", description="Always `live`.")


class Readiness(Response):
    """The service can translate."""

    status: Literal["ready"] = Field(default="ready", description="Always `ready`.")


class Translation(BaseModel):
    """A sentence that is the translation of another in the corpus."""

    text: str = Field(description="The sentence.", examples=["Ein Hund rennt am Strand."])
    id: str = Field(description="Its id in the index.", examples=["de:41"])


class ConcordanceLine(BaseModel):
    """A sentence that contains the phrase."""

    text: str = Field(description="The sentence.", examples=["A dog runs on the beach."])
    id: str = Field(description="Its id in the index.", examples=["en:41"])
    places: list[tuple[int, int]] = Field(
        description="Where the phrase occurs: begin and end, counted in Unicode characters from 0.",
        examples=[[[2, 5]]],
    )
    metadata: dict[str, Any] = Field(
        description="Its file and the further columns that it has there.", examples=[{"file": "en.txt"}]
    )
    translations: dict[str, list[Translation]] = Field(
        description="Language code -> its translations in the corpus."
    )


class Concordance(Response):
    """Sentences that contain a phrase, in the order of the corpus."""

    text: str | None = Field(description="The phrase as sent.", examples=["dog"])
    source: str = Field(description="Language code of the sentences.", examples=["en"])
    results: list[ConcordanceLine] = Field(description="The sentences of this page.")
    next: int | None = Field(description="The `begin` of the next page; null on the last.", examples=[20])


class TeachingPicture(BaseModel):
    """A pictogram that the encoder carries, to be captioned."""

    picture: str = Field(description="Its name, to be sent with a caption.", examples=["pictograms/1f415"])
    emoji: str = Field(description="What it shows.", examples=["🐕"])


class TeachingPictures(Response):
    """Pictograms to caption in a new language."""

    results: list[TeachingPicture] = Field(
        description="The pictograms; those that represent the others best come first."
    )
