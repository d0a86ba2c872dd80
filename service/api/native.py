"""The native API: translate sentences and words, list languages."""

import asyncio
from collections.abc import Sequence

from fastapi import APIRouter
from starlette.requests import Request

from index.search.translator import LanguageInfo, Translator
from index.text.sentences import may_be_several
from service.api.dependencies import get_engine
from service.api.validation import (
    TEXT_FIELDS,
    check_languages,
    check_parts,
    check_texts,
    queries_detected,
    queries_from,
)
from service.engine.engine import Engine
from service.engine.languages import Query
from service.engine.pictograms import texts_of, with_pictograms
from service.engine.sentences import answer_parts
from service.http.problems import PROBLEMS
from service.schemas import (
    Answer,
    Choices,
    Kind,
    Language,
    PartResult,
    Quality,
    SentenceRequest,
    SentenceResponse,
    SentenceResult,
    WordRequest,
    WordResponse,
    WordResult,
)

router = APIRouter(responses=PROBLEMS)


ROWS_AT_ONCE = 16
Result = tuple[str, str, dict[str, list[Answer]]]  # text as sent, source, answers by target


@router.post("/translate/sentence", summary="Translate sentences")
async def translate_sentence(request: Request, body: SentenceRequest) -> SentenceResponse:
    """Find the sentences of the index that are most likely translations of each text.

    A text has no translations if none of them reaches `min_confidence`.
    """
    engine = await get_engine(request)
    answered = await _translate("sentence", body.text, body, engine, request)
    parts = await _sentences(answered, body, engine)
    results = [
        SentenceResult(text=text, source=source, translations=translations, sentences=row or None)
        for (text, source, translations), row in zip(answered, parts, strict=True)
    ]
    if "pictograms" in body.include:
        results = with_pictograms(results, await engine.pictograms(texts_of(results)))
    model, index = engine.translator.model, engine.translator.version
    return SentenceResponse(model=model, index=index, results=results)


@router.post("/translate/word", summary="Translate words")
async def translate_word(request: Request, body: WordRequest) -> WordResponse:
    """Find the words of the index that are most likely translations of each word.

    A word has no translations if none of them reaches `min_confidence`.
    """
    engine = await get_engine(request)
    results = [
        WordResult(word=word, source=source, translations=translations)
        for word, source, translations in await _translate("word", body.word, body, engine, request)
    ]
    if "pictograms" in body.include:
        results = with_pictograms(results, await engine.pictograms(texts_of(results)))
    model, index = engine.translator.model, engine.translator.version
    return WordResponse(model=model, index=index, results=results)


@router.get("/languages", summary="List the languages")
async def languages(request: Request) -> list[Language]:
    """List the languages: what each can be translated into, how much the index has of it, and how well."""
    translator = (await get_engine(request)).translator
    return [
        Language(
            code=language.code,
            name=language.name,
            targets=list(language.targets),
            sentences=language.sentences,
            words=language.words,
            quality=_quality(translator, language),
            calibrated=translator.calibrated,
        )
        for language in translator.languages
    ]


def _quality(translator: Translator, language: LanguageInfo) -> dict[str, Quality]:
    measured = translator.manifest.quality
    pairs = ((target, measured.get(f"{language.code}-{target}")) for target in language.targets)
    return {target: Quality(r1=q.r1, r10=q.r10, n=q.n, ece=q.ece) for target, q in pairs if q is not None}


async def _sentences(answered: Sequence[Result], choices: Choices, engine: Engine) -> list[list[PartResult]]:
    """Answer the sentences of each text that has several, separately; ProblemError for too many."""
    if not any(may_be_several(text) for text, _, _ in answered):  # nearly always
        return [[] for _ in answered]
    texts = await engine.clean([text for text, _, _ in answered])
    queries = [
        Query(text, source, tuple(row)) for text, (_, source, row) in zip(texts, answered, strict=True)
    ]
    rows = await engine.divide(queries)
    check_parts("text", sum(map(len, rows)), choices)
    near = "near" in choices.include
    parts = await answer_parts(engine, rows, choices.k, choices.min_confidence, near=near)
    return [
        [
            PartResult(text=text, translations={target: list(matches) for target, matches in row.items()})
            for text, row in part
        ]
        for part in parts
    ]


async def _translate(
    kind: Kind, texts: Sequence[str], choices: Choices, engine: Engine, request: Request
) -> list[Result]:
    cleaned = await check_texts(kind, texts, choices, request.app.state.settings, engine)
    source, targets = check_languages(choices, engine.languages)
    if source is not None:
        queries = queries_from(source, TEXT_FIELDS[kind], cleaned, targets, engine.languages)
    else:
        chances = await engine.language_chances(kind, cleaned)
        queries = queries_detected(chances, TEXT_FIELDS[kind], cleaned, targets, engine.languages)
    near = "near" in choices.include
    rows = await engine.translate(kind, queries, choices.k, choices.min_confidence, near=near)
    if len(rows) > ROWS_AT_ONCE:
        await asyncio.sleep(0)  # let other requests run before a long response is written
    return [
        (text, query.source, {target: list(answers) for target, answers in row.items()})
        for text, query, row in zip(texts, queries, rows, strict=True)
    ]
