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


class TeachingPicture(BaseModel):
    """A pictogram that the encoder carries, to be captioned."""

    picture: str = Field(description="Its name, to be sent with a caption.", examples=["pictograms/1f415"])
    emoji: str = Field(description="What it shows.", examples=["🐕"])


class TeachingPictures(Response):
    """Pictograms to caption in a new language."""

    results: list[TeachingPicture] = Field(
        description="The pictograms; those that represent the others best come first."
    )
