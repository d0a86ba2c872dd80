"""One answer, and what explains it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MatchKind = Literal["exact", "memory", "translation", "near"]


class Return(BaseModel):
    """What the answer, translated back, leads to."""

    model_config = ConfigDict(frozen=True)

    text: str
    id: str
    cosine: float = Field(description="Its cosine to the text that was asked for.")


class Detour(BaseModel):
    """The best answer in a third language, and whether that leads to this answer too."""

    model_config = ConfigDict(frozen=True)

    language: str = Field(examples=["pt"])
    text: str
    id: str
    question: float = Field(description="Its cosine to the text that was asked for.")
    answer: float = Field(description="Its cosine to this answer.")
    place: int | None = Field(
        description="Where this answer stands among the translations of that one, from 1; null where it is "
        "not among the first ten."
    )


class Agreement(BaseModel):
    """What else leads to this answer."""

    model_config = ConfigDict(frozen=True)

    direct: Return | None = Field(
        description="The answer translated back; null where the index has nothing in the text's language."
    )
    via: list[Detour] = Field(description="Through each third language.")


class Explanation(BaseModel):
    """The parts of a score: 2 × cosine − question_mean − answer_mean (CSLS), and what agrees with it."""

    model_config = ConfigDict(frozen=True)

    cosine: float = Field(description="How alike text and answer are, from -1 to 1.")
    question_mean: float = Field(
        description="The text's mean cosine to the ten sentences or words of the target that are nearest."
    )
    answer_mean: float = Field(
        description="The answer's mean cosine to the ten of the source language that are nearest."
    )
    margin: float = Field(
        description="How far the score is above the best other answer's; negative where it is below."
    )
    candidates: int = Field(description="How many sentences or words it was chosen from.")
    agreement: Agreement


class Pictogram(BaseModel):
    """One of the drawings that the encoder learned from and that are nearest to a text, as an emoji."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    emoji: str = Field(examples=["🐕"])
    cosine: float = Field(description="How near it is, from -1 to 1.")


Pictograms = Annotated[
    list[Pictogram] | None,
    Field(
        exclude_if=lambda given: given is None,
        description="What the encoder sees in it, nearest first; present where `include` has `pictograms`, "
        "empty where nothing is near.",
    ),
]


class Original(BaseModel):
    """A sentence of the corpus that an answer is the translation of."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    id: str = Field(description="Where it stands in the index.", examples=["en:41"])


class Differs(BaseModel):
    """The words by which a text and an answer differ, as they are written there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: list[str] = Field(description="Words of the text that the answer does not cover.")
    answer: list[str] = Field(description="Words of the answer that the text lacks.")


class Answer(BaseModel):
    """One sentence or word of the index that may be the translation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    score: float = Field(
        allow_inf_nan=False, description="The score of CSLS. The best by it are ranked by confidence."
    )
    confidence: float = Field(
        ge=0,
        le=1,
        description="The similarity if `exact` or `memory`, else the estimated probability that it is a "
        "translation.",
    )
    id: str = Field(description="Where it stands in the index.", examples=["de:41"])
    match: MatchKind = Field(
        description="How it was found: `exact`, the corpus translates this very text so; `memory`, it "
        "translates nearly this text so; `translation`, by the encoder; `near`, by the encoder, and it is "
        "the same scene with other details rather than a translation."
    )
    similarity: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="How alike text and original are, 1 if `exact`; null for what the encoder found.",
    )
    original: Original | None = Field(
        default=None,
        description="What it is the translation of in the corpus; null if the encoder found it.",
    )
    differs: Differs | None = Field(
        default=None,
        exclude_if=lambda known: known is None,
        description="For sentences: the words by which text and answer differ.",
    )
    penalties: tuple[str, ...] = Field(
        default=(),
        description="What the similarity of a `memory` match was lowered for: `tags`, `placeholders`, "
        "`numbers`, `case`, `punctuation`; `numbers` of any other answer whose numbers are others.",
    )
    in_vocabulary: bool | None = Field(
        default=None,
        exclude_if=lambda known: known is None,
        description="For words: whether the index has the word that was asked for.",
    )
    examples: list[str] | None = Field(
        default=None,
        exclude_if=lambda given: given is None,
        description="For words: up to two sentences of the index that use it.",
    )
    metadata: dict[str, Any] = Field(
        description="What the corpus says of it: its file and columns, nothing of the service's."
    )
    explanation: Explanation | None = Field(
        default=None, exclude_if=lambda given: given is None, description="Present where `explain` was set."
    )
    pictograms: Pictograms = None
