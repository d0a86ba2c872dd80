"""Answers, languages and phrases, and the responses that they come in, as HTTP returns them."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from index.confidence import MatchKind, PairQuality
from index.frozen import Frozen

DIGITS = 4  # of scores, confidences and cosines


class Pictogram(Frozen):
    """A drawing that the encoder learned from and that is near to a text, as an emoji."""

    emoji: str = Field(description="What it shows.", examples=["🐕"])
    cosine: float = Field(description="Its cosine similarity to the text, from -1 to 1.", examples=[0.62])


NearPictograms = Annotated[
    list[Pictogram] | None,
    Field(
        exclude_if=lambda seen: seen is None,
        description="The pictograms nearest to the text, nearest first; only if `include` names them.",
    ),
]


class Original(Frozen):
    """The sentence of the corpus whose translation an answer is."""

    text: str = Field(description="The sentence.", examples=["A dog runs on the beach."])
    id: str = Field(description="Its id in the index.", examples=["en:41"])


class Differs(Frozen):
    """Words of the text that an answer leaves out, and those that it or its gloss adds, spelled as there."""

    question: tuple[str, ...] = Field(
        default=(), description="Words of the text without a counterpart in the answer.", examples=[["beach"]]
    )
    answer: tuple[str, ...] = Field(
        default=(), description="Words of the answer without a counterpart in the text.", examples=[["Wiese"]]
    )
    gloss: tuple[str, ...] = Field(
        default=(),
        exclude_if=lambda words: not words,
        description="Words of the gloss without a counterpart in the text, if the corpus has it.",
        examples=[["meadow"]],
    )


NO_DIFFERENCES = Differs()


class Answer(Frozen):
    """A sentence or word of the index that may be the translation."""

    text: str = Field(description="The sentence or word.", examples=["Ein Hund rennt am Strand."])
    score: float = Field(
        allow_inf_nan=False,
        description="Cosine similarity corrected for hubness (CSLS). The candidates with the highest scores "
        "are ordered by confidence.",
    )
    confidence: float = Field(
        ge=0,
        le=1,
        description="The estimated probability that it is a translation; 1 if `match` is `exact`.",
    )
    id: str = Field(description="Its id in the index.", examples=["de:41"])
    match: MatchKind = Field(
        description="How it was found. `exact`: the corpus has this translation of the very text. `memory`: "
        "the corpus has it as the translation of a similar text. `paraphrase`: the corpus has it as the "
        "translation of `original`, which likely means the same, or it likely means the same itself, in the "
        "language of the text. `translation`: by the encoder, and more likely right than not. `near`: less "
        "likely, or it says something else than the text: what is nearest, as its `gloss` says."
    )
    similarity: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="String similarity of text and `original`, 1 if `exact`; null if they are not alike.",
    )
    original: Original | None = Field(
        default=None,
        description="The sentence whose translation it is in the corpus; null if the encoder found it.",
    )
    gloss: str | None = Field(
        default=None,
        exclude_if=lambda known: known is None,
        description="What it says, in the language of the text: the corpus's own translation of it into that "
        "language; else the sentence of the index that likely says the same, if there is one.",
        examples=["A dog runs on the beach."],
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
    examples: tuple[str, ...] | None = Field(
        default=None,
        exclude_if=lambda given: given is None,
        description="Up to two sentences of the index with this word; only for words.",
    )
    metadata: dict[str, Any] = Field(
        default_factory=dict,
        description="Its file and the further columns that it has there.",
        examples=[{"file": "de.txt"}],
    )
    pictograms: NearPictograms = None


Answers = tuple[Answer, ...]


def likely(answers: Answers, min_confidence: float, near: float | None = None) -> Answers:
    """The answers with at least `min_confidence`, and if `near` is given, those that are near with that.

    Of sentences that the asker reads in his own language, then all that are near.
    """
    return tuple(
        answer
        for answer in answers
        if answer.confidence >= min_confidence
        or (
            near is not None
            and answer.match == "near"
            and (answer.confidence >= round(near, DIGITS) or answer.original is not None)
        )
    )


Translations = Annotated[
    dict[str, Answers],
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
    pictograms: NearPictograms = None


class WordResult(BaseModel):
    """The translations of a word."""

    word: str = Field(description="The word as sent.")
    source: str = Field(description="Language code of the text, as given or detected.", examples=["en"])
    translations: Translations
    pictograms: NearPictograms = None


class Response(BaseModel):
    """What answered: an encoder and an index."""

    model: str = Field(description="Name and version of the encoder.", examples=["open@1"])
    index: str = Field(description="Id of the index version.", examples=["20261120-1"])


EXAMPLE_ANSWER: JsonDict = Answer(
    text="Ein Hund rennt am Strand.",
    score=0.71,
    confidence=0.83,
    id="de:41",
    match="translation",
    differs=NO_DIFFERENCES,
    metadata={"file": "de.txt"},
).model_dump(mode="json")
EXAMPLE_WORD: JsonDict = EXAMPLE_ANSWER | {"text": "Hund", "id": "de:word:hund", "in_vocabulary": True}


def _example(result: JsonDict) -> JsonDict:
    return {"examples": [{"model": "open@1", "index": "20261120-1", "results": [result]}]}


class SentenceResponse(Response):
    """Translations of sentences."""

    model_config = ConfigDict(
        json_schema_extra=_example(
            {
                "text": "A dog runs on the beach.",
                "source": "en",
                "translations": {"de": [EXAMPLE_ANSWER], "pt": []},
            }
        )
    )

    results: list[SentenceResult] = Field(description="One result per text, in the order sent.")


class WordResponse(Response):
    """Translations of words."""

    model_config = ConfigDict(
        json_schema_extra=_example(
            {"word": "dog", "source": "en", "translations": {"de": [EXAMPLE_WORD], "pt": []}}
        )
    )

    results: list[WordResult] = Field(description="One result per word, in the order sent.")


class LanguageInfo(BaseModel, frozen=True):
    """A language to translate from, if the encoder knows it, and into, if the index has sentences in it."""

    code: str = Field(description="BCP 47 code.", examples=["de"])
    name: str = Field(description="English name.", examples=["German"])
    targets: tuple[str, ...] = Field(
        description="Codes of the languages that it can be translated into.", examples=[["en", "pt"]]
    )
    sentences: int = Field(description="Number of its sentences in the index.", examples=[322])
    words: int = Field(description="Number of its words in the index.", examples=[410])
    quality: dict[str, PairQuality] = Field(
        default={},
        description="Target language code -> how well this pair translates, for pairs that were measured "
        "when the index was built.",
        examples=[{"pt": {"r1": 0.81, "r10": 0.95, "n": 200, "ece": 0.03}}],
    )
    is_source: bool = Field(default=True, exclude=True)


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
    reviewed: str = Field(
        description="Who has reviewed it, or `no`: not for clinical use before a speaker has read it; "
        "empty if its file does not say."
    )
    translation: str = Field(description="Its translation in the corpus.", examples=["Wo tut es weh?"])
    translation_id: str = Field(description="The id of the translation.", examples=["de:120"])


class Phrases(Response):
    """The phrases of an index, in the order of the corpus."""

    phrases: list[ShownPhrase] = Field(description="Every sentence whose file has a column `topic`.")
