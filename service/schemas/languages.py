"""The languages of the index."""

from pydantic import BaseModel, Field


class Quality(BaseModel):
    """How often sentences of the corpus found their own translation."""

    r1: float = Field(ge=0, le=1, description="The share that found it first.")
    r10: float = Field(ge=0, le=1, description="The share that found it among the first ten.")
    n: int = Field(description="How many were tried.")
    ece: float | None = Field(
        description="Expected calibration error of the confidences; null where there was too little to tell."
    )


class Language(BaseModel):
    """A language of the index."""

    code: str = Field(description="BCP 47 code.", examples=["de"])
    name: str = Field(examples=["German"])
    targets: list[str] = Field(description="Codes of the languages it can be translated into.")
    sentences: int = Field(description="Sentences of this language in the index.")
    words: int = Field(description="Words of this language in the index.")
    nearness: dict[str, float] = Field(
        description="How near the languages lie: the mean cosine of a sentence of this one to the ten nearest"
        " of each other; empty where the index holds none of this one.",
        examples=[{"pt": 0.61, "zh": 0.58}],
    )
    quality: dict[str, Quality] = Field(
        description="How good the pair with each target is, where sentences whose translation is in the "
        "index were asked.",
        examples=[{"pt": {"r1": 0.81, "r10": 0.95, "n": 200, "ece": 0.03}}],
    )
    calibrated: bool = Field(
        description="Whether the confidences of sentences were fitted to data; if not, and for words always, "
        "they are a fixed function of the score."
    )
