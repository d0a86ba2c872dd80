"""What the corpus holds: where a word or phrase stands, and phrases by topic, with their translations."""

import asyncio
from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from index.answers.concordance import TOPIC, Occurrence, concordance, phrases
from index.text.normalisation import clean
from service.api.dependencies import EngineNow
from service.engine.engine import Engine
from service.http.problems import ProblemError, ProblemType
from service.schemas.problems import FieldError
from service.schemas.responses import Concordance, ConcordanceLine, Phrases, ShownPhrase, Translation

router = APIRouter()

LONGEST_PHRASE = 200  # characters
MOST_RESULTS = 100


@router.get("/concordance", summary="Find a word or phrase in the index", response_model=Concordance)
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
    translator, indexes = engine.translator, engine.translator.sentence_indexes
    _check(engine, [("source", source), *(("target", code) for code in target or ())])
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
            results=[_line(occurrence) for occurrence in page.occurrences],
            next=page.next,
        )
        return Response(response.model_dump_json(), media_type="application/json")

    return await asyncio.to_thread(answer)  # all of it: a page may have 2,000 translations in each language


@router.get("/phrases", summary="List the phrases by topic")
async def list_phrases(
    engine: EngineNow,
    source: Annotated[str, Query(description="Language code of who shows the phrases.", examples=["en"])],
    target: Annotated[str, Query(description="Language code of who reads them.", examples=["de"])],
) -> Phrases:
    """List the sentences that have a topic and a translation in the corpus, in the order of the corpus.

    The list is empty where no file of the index has a column `topic`.
    """
    translator, indexes = engine.translator, engine.translator.sentence_indexes
    _check(engine, [("source", source), ("target", target)])
    found = await asyncio.to_thread(phrases, indexes[source], indexes[target])  # it reads all metadata
    shown = []
    for phrase in found:
        said = {name: str(value or "") for name, value in phrase.sentence.metadata.items()}
        shown.append(
            ShownPhrase(
                text=phrase.sentence.text,
                id=phrase.sentence.id,
                topic=said[TOPIC],
                pictogram=said.get("pictogram", ""),
                reviewed=said.get("reviewed", ""),
                translation=phrase.translation.text,
                translation_id=phrase.translation.id,
            )
        )
    return Phrases(model=translator.model, index=translator.version, phrases=shown)


def _check(engine: Engine, named: Iterable[tuple[str, str]]) -> None:
    """Raise ProblemError for languages, by field, without sentences in the index."""
    indexes = engine.translator.sentence_indexes
    if unknown := [engine.languages.unknown(field, code) for field, code in named if code not in indexes]:
        raise ProblemError.of_fields(ProblemType.UNKNOWN_LANGUAGE, unknown)


def _line(occurrence: Occurrence) -> ConcordanceLine:
    sentence = occurrence.sentence
    return ConcordanceLine(
        text=sentence.text,
        id=sentence.id,
        places=list(occurrence.places),
        metadata=dict(sentence.metadata),
        translations={
            code: [Translation(text=other.text, id=other.id) for other in sentences]
            for code, sentences in occurrence.translations.items()
        },
    )
