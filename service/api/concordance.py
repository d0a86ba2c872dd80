"""Where a word or phrase stands in the index, with its translations."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from index.answers.concordance import Occurrence, concordance
from index.formats.sentence import Sentence
from index.text.normalisation import clean
from service.api.dependencies import EngineNow
from service.http.problems import ProblemError, ProblemType
from service.schemas import Concordance, ConcordanceLine, FieldError, Translation

router = APIRouter()

LONGEST_PHRASE = 200  # characters
MOST_RESULTS = 100


@router.get(
    "/concordance",
    summary="Find a word or phrase in the index",
    response_model=Concordance,
)
async def find(
    engine: EngineNow,
    source: Annotated[str, Query(description="Language code of the sentences to search.", examples=["en"])],
    text: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=LONGEST_PHRASE,
            description="The word or phrase; if left out, all sentences are listed.",
            examples=["dog"],
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        Query(
            description="Language codes of the translations to return; all if left out.",
            max_length=128,
            examples=[["de"]],
        ),
    ] = None,
    begin: Annotated[
        int, Query(ge=0, le=2**62, description="Where to begin: 0, or `next` of the page before.")
    ] = 0,
    count: Annotated[
        int, Query(ge=1, le=MOST_RESULTS, description="Highest number of sentences of a page.")
    ] = 20,
) -> Response:
    """Find the sentences of a language that contain the phrase, with their translations in the corpus.

    Case is ignored; in scripts that separate words, only whole words match.
    """
    translator = engine.translator
    indexes = translator.sentence_indexes
    wanted = [("source", source), *(("target", code) for code in target or ())]
    unknown = [engine.languages.unknown(field, code) for field, code in wanted if code not in indexes]
    if unknown:
        raise ProblemError.of_fields(ProblemType.UNKNOWN_LANGUAGE, unknown)
    if text is not None and not clean(text):
        error = FieldError(field="text", message="text is empty: give a word or phrase", limit=1)
        raise ProblemError.of_fields(ProblemType.INVALID_REQUEST, [error])
    codes = [code for code in dict.fromkeys(target or indexes) if code != source]

    def answer() -> Response:
        page = concordance(indexes, text, source, codes, begin=begin, count=count)
        response = Concordance(
            model=translator.model,
            index=translator.version,
            text=text,
            source=source,
            results=[_result(occurrence) for occurrence in page.occurrences],
            next=page.next,
        )
        return Response(response.model_dump_json(), media_type="application/json")

    return await asyncio.to_thread(answer)  # all of it: a page may have 2,000 translations in each language


def _result(occurrence: Occurrence) -> ConcordanceLine:
    sentence = occurrence.sentence
    return ConcordanceLine(
        text=sentence.text,
        id=sentence.id,
        places=list(occurrence.places),
        metadata=dict(sentence.metadata),
        translations={
            code: list(map(_translation, sentences)) for code, sentences in occurrence.translations.items()
        },
    )


def _translation(sentence: Sentence) -> Translation:
    return Translation(text=sentence.text, id=sentence.id)
