"""amaGama's protocol, spoken by Weblate ("tmserver"), Virtaal and Pootle (contract: amaGama's docs/api.rst).

A suggestion's `rank` is the score. For a match of the translation memory, as in amaGama, `source` is the
sentence of the corpus and `quality` its similarity to the text in percent. For other answers, `source` is the
text that was sent and `quality` the confidence.
"""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.requests import Request

from index.answers.answer import Answer
from index.answers.request import Choices, Query
from index.text.normalisation import clean
from service import limits
from service.api.dependencies import EngineNow, SettingsNow
from service.api.validation import check_texts


class AnyText(PathConvertor):
    """The rest of a path, line breaks included: Starlette's own `path` stops at one."""

    regex = r"[\s\S]*"


register_url_convertor("text", AnyText())
router = APIRouter(prefix="/tmserver", tags=["amaGama"])

# As amaGama has them: similarities in percent.
LEAST_SIMILARITY = 30
DEFAULT_SIMILARITY = 70
DEFAULT_CANDIDATES = 5


class TmLanguages(BaseModel):
    """Languages, with codes as amaGama spells them: lower case, with underscores."""

    sourceLanguages: list[str] = Field(description="Languages of texts.", examples=[["en", "pt_br"]])
    targetLanguages: list[str] = Field(description="Languages of suggestions.", examples=[["de", "zh_hant"]])


class Suggestion(BaseModel):
    """A sentence that may be the translation."""

    source: str = Field(
        description="The sentence whose translation it is in the corpus; otherwise the text asked for."
    )
    target: str = Field(description="The suggested translation, a sentence of the index.")
    quality: float = Field(
        description="Similarity of `source` to the text if the corpus has the translation, otherwise the "
        "confidence that it is one; per cent.",
        examples=[83.0],
    )
    rank: float = Field(description="The score: cosine similarity corrected for hubness.", examples=[0.71])


@router.get("/languages/", summary="List the languages, as amaGama does")
async def tm_languages(engine: EngineNow) -> TmLanguages:
    """List the languages of texts and those of suggestions."""
    languages = engine.translator.languages
    return TmLanguages(
        sourceLanguages=[_amagama_code(language.code) for language in languages],
        targetLanguages=[_amagama_code(language.code) for language in languages if language.sentences],
    )


@router.get(
    "/{source_language}/{target_language}/unit/{text:text}",
    summary="Suggest translations, as amaGama does",
)
async def tm_unit(
    source_language: Annotated[str, Path(description="Language of the text.", examples=["en"])],
    target_language: Annotated[str, Path(description="Language of the suggestions.", examples=["pt_br"])],
    text: Annotated[str, Path(description="The text to translate.")],
    request: Request,
    engine: EngineNow,
    settings: SettingsNow,
) -> list[Suggestion]:
    """Find the sentences that are most likely translations of the text, the best first.

    Of a language that the index lacks there are none. The options are those of amaGama: `min_similarity`, per
    cent, 70 by default and at least 30; `max_candidates`, 5 by default; and `source`, the text, if it is not
    in the path.
    """
    text = text or request.query_params.get("source", "")
    least = max(LEAST_SIMILARITY, _option(request, "min_similarity", DEFAULT_SIMILARITY)) / 100
    k = min(limits.MAX_K, max(1, _option(request, "max_candidates", DEFAULT_CANDIDATES)))
    check_texts("text", [text], Choices(target=[target_language], k=k), settings.max_characters)
    cleaned, languages = clean(text), engine.languages
    source, target = languages.find(source_language), languages.find(target_language)
    if not cleaned or source is None or target is None or target not in languages.targets(source):
        return []
    (answers,) = await engine.answers([Query("sentence", cleaned, source, target, k)])
    return [_suggestion(text, answer) for answer in answers if _quality(answer) >= least]


def _suggestion(text: str, answer: Answer) -> Suggestion:
    return Suggestion(
        source=text if answer.original is None else answer.original.text,
        target=answer.text,
        quality=round(100 * _quality(answer), 2),
        rank=answer.score,
    )


def _quality(answer: Answer) -> float:
    """The similarity of its original to the text, as amaGama has it; without one, the confidence."""
    return answer.confidence if answer.similarity is None or answer.match == "near" else answer.similarity


def _option(request: Request, name: str, default: int) -> int:
    """A numeric option of the query; as in amaGama, a value that is not a number counts as left out."""
    value = request.query_params.get(name, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else default


def _amagama_code(code: str) -> str:
    return code.replace("-", "_").lower()
