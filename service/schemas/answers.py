"""An answer."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MatchKind = Literal["exact", "memory", "translation", "near"]


class Pictogram(BaseModel):
    """A drawing that the encoder learned from and that is near to a text, as an emoji."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    emoji: str = Field(description="What it shows.", examples=["🐕"])
    cosine: float = Field(description="Its cosine similarity to the text, from -1 to 1.", examples=[0.62])


Pictograms = Annotated[
    list[Pictogram] | None,
    Field(
        exclude_if=lambda given: given is None,
        description="The pictograms nearest to it, nearest first; only if `include` has `pictograms`, and "
        "empty if none is near.",
    ),
]


class Original(BaseModel):
    """The sentence of the corpus whose translation an answer is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(description="The sentence.", examples=["A dog runs on the beach."])
    id: str = Field(description="Its id in the index.", examples=["en:41"])


class Differs(BaseModel):
    """The words by which a text and an answer differ, as spelled there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: list[str] = Field(
        description="Words of the text without a counterpart in the answer.", examples=[["beach"]]
    )
    answer: list[str] = Field(
        description="Words of the answer without a counterpart in the text.", examples=[["Wiese"]]
    )


class Answer(BaseModel):
    """A sentence or word of the index that may be the translation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(description="The sentence or word.", examples=["Ein Hund rennt am Strand."])
    score: float = Field(
        allow_inf_nan=False,
        description="Cosine similarity corrected for hubness (CSLS). The candidates with the highest scores "
        "are ordered by confidence.",
    )
    confidence: float = Field(
        ge=0,
        le=1,
        description="The estimated probability that it is a translation; the similarity if `match` is "
        "`exact` or `memory`.",
    )
    id: str = Field(description="Its id in the index.", examples=["de:41"])
    match: MatchKind = Field(
        description="How it was found. `exact`: the corpus has this translation of the very text. `memory`: "
        "the corpus has it as the translation of a similar text. `translation`: by the encoder. `near`: by "
        "the encoder, but it shows the same scene with other details rather than being a translation."
    )
    similarity: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="String similarity of text and `original`, 1 if `exact`; null if the encoder found it.",
    )
    original: Original | None = Field(
        default=None,
        description="The sentence whose translation it is in the corpus; null if the encoder found it.",
    )
    differs: Differs | None = Field(
        default=None,
        exclude_if=lambda known: known is None,
        description="The words by which text and answer differ; only for sentences.",
    )
    penalties: tuple[str, ...] = Field(
        default=(),
        description="Differences for which the similarity of a `memory` match was lowered: `tags`, "
        "`placeholders`, `numbers`, `case`, `punctuation`. For any other answer: `numbers`, if its numbers"
        " differ from those of the text.",
    )
    in_vocabulary: bool | None = Field(
        default=None,
        exclude_if=lambda known: known is None,
        description="Whether the word asked for is in the index; only for words.",
    )
    examples: list[str] | None = Field(
        default=None,
        exclude_if=lambda given: given is None,
        description="Up to two sentences of the index with this word; only for words.",
    )
    metadata: dict[str, Any] = Field(
        description="Its file and the further columns that it has there.",
        examples=[{"file": "de.txt"}],
    )
    pictograms: Pictograms = None
