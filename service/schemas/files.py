"""A file that was filled from the translation memory."""

from pydantic import BaseModel, Field


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
