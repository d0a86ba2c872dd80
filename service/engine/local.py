"""Answers requests as the API does, from an index in this process and without a server."""

from index.errors import UsageError
from index.search.translator import Match, Translator
from index.text.identification import clear_language, likely_languages
from service.engine.answers import Answers, filter_by_confidence, to_answers
from service.engine.languages import Query, divided
from service.engine.pictograms import AnyResult, pictograms_of, texts_of, with_pictograms
from service.schemas import (
    Choices,
    Kind,
    PartResult,
    SentenceRequest,
    SentenceResponse,
    SentenceResult,
    WordRequest,
    WordResponse,
    WordResult,
)


def answer(translator: Translator, request: SentenceRequest | WordRequest) -> SentenceResponse | WordResponse:
    """Answer a request as the service would; UsageError for a language that is unknown or not clear."""
    kind: Kind = "word" if isinstance(request, WordRequest) else "sentence"
    queries = [_query(translator, kind, request, text) for text in request.texts]
    rows = [_search(translator, kind, request, query) for query in queries]
    model, index = translator.model, translator.version
    results = [
        (query.text, query.source, {target: list(answers) for target, answers in row.items()})
        for query, row in zip(queries, rows, strict=True)
    ]
    if kind == "word":
        words = [WordResult(word=word, source=source, translations=row) for word, source, row in results]
        return WordResponse(model=model, index=index, results=_add_pictograms(translator, request, words))
    parts = [_parts(translator, request, query) for query in queries]
    sentences = [
        SentenceResult(text=text, source=source, translations=row, sentences=sentence_parts or None)
        for (text, source, row), sentence_parts in zip(results, parts, strict=True)
    ]
    return SentenceResponse(model=model, index=index, results=_add_pictograms(translator, request, sentences))


def _add_pictograms(translator: Translator, choices: Choices, results: list[AnyResult]) -> list[AnyResult]:
    """Add pictograms to results if they were asked for."""
    if "pictograms" not in choices.include:
        return results
    texts = texts_of(results)
    return with_pictograms(results, dict(zip(texts, pictograms_of(translator, texts), strict=True)))


def _parts(translator: Translator, choices: Choices, query: Query) -> list[PartResult]:
    """The separate answers to the sentences of a text of several."""
    rows = [(part.text, _search(translator, "sentence", choices, part)) for part in divided([query])[0]]
    return [
        PartResult(text=text, translations={target: list(matches) for target, matches in row.items()})
        for text, row in rows
    ]


def _query(translator: Translator, kind: Kind, choices: Choices, text: str) -> Query:
    """The query for a text; the text is not translated into its own language if that was detected."""
    targets = tuple(choices.target)
    if choices.source:
        return Query(text, choices.source, targets)
    chances = translator.language_chances(text, kind=kind)
    source = clear_language(chances)
    if source is None:
        languages = ", ".join(likely_languages(chances))
        guess = f", it may be {languages}" if languages else ""
        raise UsageError(f"the language of {text[:60]!r} is not clear{guess}: say it with --from")
    return Query(text, source, tuple(target for target in targets if target != source) or targets)


def _search(translator: Translator, kind: Kind, choices: Choices, query: Query) -> dict[str, Answers]:
    matches = {target: _matches(translator, kind, choices, query, target) for target in query.targets}
    near = "near" in choices.include
    return {
        target: filter_by_confidence(to_answers(row), choices.min_confidence, near)
        for target, row in matches.items()
    }


def _matches(translator: Translator, kind: Kind, choices: Choices, query: Query, target: str) -> list[Match]:
    texts, pair = [query.text], (query.source, target)
    if kind == "word":
        return translator.words(texts, *pair, choices.k)[0]
    vectors = translator.encode(texts, query.source)
    matches = translator.sentences(texts, *pair, choices.k, vectors=vectors)
    return translator.compare(texts, vectors, *pair, matches)[0]
