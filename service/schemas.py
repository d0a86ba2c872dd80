"""What the native API takes and gives, as pydantic models. Limits that settings can move are in checks.py."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, WithJsonSchema
from pydantic.config import JsonDict

from index.confidence import MIN_CONFIDENCE

Kind = Literal["sentence", "word"]
Include = Literal["near", "pictograms"]
MatchKind = Literal["exact", "memory", "translation", "near"]
ERRORS_SHOWN = 20  # a request of 256 bad texts needs no 256 explanations


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _one_or_more(description: str) -> WithJsonSchema:
    one = {"type": "string", "minLength": 1}
    return WithJsonSchema(
        {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}], "description": description}
    )


Texts = Annotated[
    list[StrictStr],
    Field(min_length=1),
    BeforeValidator(_as_list),
    _one_or_more("One text, or a list of them."),
]
Targets = Annotated[
    list[StrictStr],
    Field(min_length=1),
    BeforeValidator(_as_list),
    _one_or_more("Language code to translate into, or a list of them."),
]


class Choices(BaseModel):
    """What both kinds of request share."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: StrictStr | None = Field(
        default=None, description="Language code of the texts; left out, each text's language is detected."
    )
    target: Targets
    k: Annotated[int, Field(strict=True, ge=1, description="Most answers per text and target.")] = 1
    min_confidence: Annotated[
        float,
        Field(
            strict=True,
            ge=0,
            le=1,
            allow_inf_nan=False,
            description="Answers with a lower confidence are left out, but see `include`.",
        ),
    ] = MIN_CONFIDENCE
    include: Annotated[
        list[Include],
        Field(
            description="What else to return: `near`, sentences below `min_confidence` that show the same "
            "scene with other details; `pictograms`, what the encoder sees in texts and answers, as emoji."
        ),
    ] = []
    explain: Annotated[bool, Field(strict=True, description="Whether to explain each answer.")] = False


SENTENCE_EXAMPLE: JsonDict = {
    "text": "A dog runs on the beach.",
    "source": "en",
    "target": ["de", "pt"],
    "k": 3,
    "min_confidence": 0.2,
}
EXPLAINED_EXAMPLE: JsonDict = {
    "text": ["Two children play in the snow.", "A man plays the guitar."],
    "target": "de",
    "explain": True,
}
WORD_EXAMPLE: JsonDict = {"word": "dog", "source": "en", "target": ["de", "pt"], "k": 3}


class SentenceRequest(Choices):
    model_config = ConfigDict(json_schema_extra={"examples": [SENTENCE_EXAMPLE, EXPLAINED_EXAMPLE]})

    text: Texts

    @property
    def texts(self) -> list[str]:
        return self.text


class WordRequest(Choices):
    model_config = ConfigDict(json_schema_extra={"examples": [WORD_EXAMPLE]})

    word: Texts

    @property
    def texts(self) -> list[str]:
        return self.word


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
        allow_inf_nan=False, description="The score of CSLS. Sentences are ranked by it, words by confidence."
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
        "`numbers`, `case`, `punctuation`.",
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


DOG: JsonDict = {
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
HUND: JsonDict = {
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
                            "translations": {"de": [DOG], "pt": []},
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
                    "results": [{"word": "dog", "source": "en", "translations": {"de": [HUND], "pt": []}}],
                }
            ]
        }
    )

    results: list[WordResult] = Field(description="One result per word, in the order sent.")


class Quality(BaseModel):
    """How often aligned sentences of the corpus found their own translation."""

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
        description="How good the pair with each target is, for those that the corpus has aligned sentences "
        "of.",
        examples=[{"pt": {"r1": 0.81, "r10": 0.95, "n": 200, "ece": 0.03}}],
    )
    calibrated: bool = Field(
        description="Whether the confidences of sentences were fitted to data; if not, and for words always, "
        "they are a fixed function of the score."
    )


class Health(BaseModel):
    status: Literal["live", "ready"]


class Readiness(Response):
    status: Literal["ready"] = "ready"


class FieldError(BaseModel):
    """What is wrong with one field of the request, and what to change."""

    field: str = Field(description="The field, with its position in a list.", examples=["text[3]"])
    message: str = Field(description="What is wrong and what to change.")
    limit: float | int | None = Field(default=None, description="The limit that was exceeded, if any.")
    allowed: list[str] | None = Field(
        default=None, description="The allowed values, where they can be listed."
    )
    candidates: list[str] | None = Field(
        default=None,
        description="Where a text's language is not clear: the codes of those it may be in, likeliest first.",
    )


class Problem(BaseModel):
    """An RFC 9457 problem document."""

    type: str = Field(
        description="Which problem, as a relative reference.", examples=["/problems/invalid-request"]
    )
    title: str = Field(examples=["Invalid request"])
    status: int = Field(examples=[422])
    detail: str = Field(
        description="What is wrong with this request and what to change.",
        examples=["k is 51, the limit is 50: lower it"],
    )
    request_id: str | None = Field(
        default=None,
        description="The id of this request in the log and in the header X-Request-ID.",
        examples=["4f1c0d9be2a86357"],
    )
    errors: list[FieldError] | None = Field(
        default=None, description=f"The fields at fault, the first {ERRORS_SHOWN}.", examples=[None]
    )
