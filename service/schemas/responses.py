"""Responses of the native API besides translations, which are index/answers/answer.py's."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from index.answers.answer import Response


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


class ShownPhrase(BaseModel):
    """A phrase of a topic, to be shown to somebody who reads another language."""

    text: str = Field(description="The phrase.", examples=["Where does it hurt?"])
    id: str = Field(description="Its id in the index.", examples=["en:120"])
    topic: str = Field(description="Its topic.", examples=["pain"])
    pictogram: str = Field(description="An emoji for it; may be empty.", examples=["🤕"])
    reviewed: str = Field(description="Who has reviewed it, or `no`; empty if its file does not say.")
    translation: str = Field(description="Its translation in the corpus.", examples=["Wo tut es weh?"])
    translation_id: str = Field(description="The id of the translation.", examples=["de:120"])


class Phrases(Response):
    """The phrases of an index, in the order of the corpus."""

    phrases: list[ShownPhrase] = Field(description="Every sentence whose file has a column `topic`.")


class BoardPhrase(BaseModel):
    """A row of a table of phrases."""

    texts: dict[str, str] = Field(description="Language code -> the phrase.", examples=[{"en": "Hello."}])
    topic: str = Field(description="Its topic; may be empty.", examples=["first contact"])
    pictogram: str = Field(description="An emoji for it; may be empty.", examples=["👋"])
    reviewed: str = Field(description="Who has reviewed it, or `no`; empty if the table does not say.")


class Board(BaseModel):
    """The phrases of a table."""

    languages: list[str] = Field(description="The languages of its columns.", examples=[["en", "de"]])
    phrases: list[BoardPhrase] = Field(description="Its rows, in order.")


class TeachingPicture(BaseModel):
    """A pictogram that the encoder carries, to be captioned."""

    picture: str = Field(description="Its name, to be sent with a caption.", examples=["pictograms/1f415"])
    emoji: str = Field(description="What it shows.", examples=["🐕"])


class TeachingPictures(Response):
    """Pictograms to caption in a new language."""

    results: list[TeachingPicture] = Field(
        description="The pictograms; those to begin with, or nearest to `like`, come first."
    )


class TranslatedFile(BaseModel):
    """Where the translated file is, and how many of its texts were filled in."""

    translatedFileUrl: str = Field(description="Where to download the file, as long as the service keeps it.")
    translated: int = Field(description="Texts filled in with their translation in the corpus.")
    fuzzy: int = Field(
        description="Texts for which the corpus has a translation of a similar text (70 % or more)."
    )
    empty: int = Field(description="Texts left empty.")
    kept: int = Field(description="Texts that already had a translation and were left alone.")
    fuzzyWritten: bool = Field(description="Whether the fuzzy translations were filled in.")


class Quality(BaseModel):
    """How well a pair translates, measured with sentences whose translation is in the index."""

    r1: float = Field(
        ge=0, le=1, description="Share of sentences whose translation was found first.", examples=[0.81]
    )
    r10: float = Field(
        ge=0,
        le=1,
        description="Share of sentences whose translation was among the first ten.",
        examples=[0.95],
    )
    n: int = Field(description="Sentences tried.", examples=[200])
    ece: float | None = Field(
        description="Expected calibration error of the confidences, from 0 to 1; null if there were too few "
        "sentences to measure it.",
        examples=[0.03],
    )


class Language(BaseModel):
    """A language of the index."""

    code: str = Field(description="BCP 47 code.", examples=["de"])
    name: str = Field(description="English name.", examples=["German"])
    targets: list[str] = Field(
        description="Codes of the languages that it can be translated into.", examples=[["en", "pt"]]
    )
    sentences: int = Field(description="Number of its sentences in the index.", examples=[322])
    words: int = Field(description="Number of its words in the index.", examples=[410])
    quality: dict[str, Quality] = Field(
        description="Target language code -> how well this pair translates, for pairs that were measured "
        "when the index was built.",
        examples=[{"pt": {"r1": 0.81, "r10": 0.95, "n": 200, "ece": 0.03}}],
    )
