"""The languages of the index."""

from pydantic import BaseModel, Field


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
