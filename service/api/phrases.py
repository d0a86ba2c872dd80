"""Phrases by topic, to be shown to the person opposite: the sentences whose file has a column `topic`."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query

from index.answers.concordance import TOPIC, Phrase, phrases
from service.api.dependencies import EngineNow
from service.http.problems import ProblemError, ProblemType
from service.schemas import Phrases, ShownPhrase

router = APIRouter()


@router.get("/phrases", summary="List the phrases by topic")
async def list_phrases(
    engine: EngineNow,
    source: Annotated[str, Query(description="Language code of who shows the phrases.", examples=["en"])],
    target: Annotated[str, Query(description="Language code of who reads them.", examples=["de"])],
) -> Phrases:
    """List the sentences that have a topic and a translation in the corpus, in the order of the corpus.

    The list is empty where no file of the index has a column `topic`.
    """
    indexes = engine.translator.sentence_indexes
    unknown = [
        engine.languages.unknown(field, code)
        for field, code in (("source", source), ("target", target))
        if code not in indexes
    ]
    if unknown:
        raise ProblemError.of_fields(ProblemType.UNKNOWN_LANGUAGE, unknown)
    found = await asyncio.to_thread(phrases, indexes[source], indexes[target])  # it reads all metadata
    return Phrases(
        model=engine.translator.model, index=engine.translator.version, phrases=list(map(_shown, found))
    )


def _shown(phrase: Phrase) -> ShownPhrase:
    said = phrase.sentence.metadata
    topic, pictogram, reviewed = (str(said.get(name) or "") for name in (TOPIC, "pictogram", "reviewed"))
    return ShownPhrase(
        text=phrase.sentence.text,
        id=phrase.sentence.id,
        topic=topic,
        pictogram=pictogram,
        reviewed=reviewed,
        translation=phrase.translation.text,
        translation_id=phrase.translation.id,
    )
