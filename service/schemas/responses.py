"""Responses of the native API besides those of index/answers."""

from typing import Literal

from pydantic import BaseModel, Field

from index.answers.answer import Response


class Liveness(BaseModel):
    """The process serves requests."""

    status: Literal["live"] = Field(default="live", description="Always `live`.")


class Readiness(Response):
    """The service can translate."""

    status: Literal["ready"] = Field(default="ready", description="Always `ready`.")
    licence: str = Field(
        description="Terms of the encoder's weights, as its bundle states them.", examples=["CC BY-SA 4.0"]
    )


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
        description="The pictograms; those to begin with, or that `like` asks for most, come first."
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
    looksLike: str | None = Field(
        description="Where hardly any text was known: the language that they clearly are in, if it is "
        "another than was given or the format assumes; else null."
    )
