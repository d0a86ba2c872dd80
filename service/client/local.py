"""Answers as the API gives them, of an index in this process and without a server."""

from index.errors import UsageError
from index.search.translator import Translator
from service.api.answers import answers_of, likely
from service.api.explanations import explain_answers
from service.api.schemas import (
    Choices,
    Kind,
    SentenceRequest,
    SentenceResponse,
    SentenceResult,
    WordRequest,
    WordResponse,
    WordResult,
)
from service.engine.cache import Answers
from service.engine.languages import Asked


def answer(translator: Translator, request: SentenceRequest | WordRequest) -> SentenceResponse | WordResponse:
    """What the service would answer; UsageError for a language that is not there or not clear."""
    kind: Kind = "word" if isinstance(request, WordRequest) else "sentence"
    asked = [_asked(translator, kind, request, text) for text in request.texts]
    found = [_found(translator, kind, request, one) for one in asked]
    if request.explain:
        found = explain_answers(translator, kind, asked, found)
    model, index = translator.model, translator.version
    rows = [
        (one.text, one.source, {target: list(answers) for target, answers in row.items()})
        for one, row in zip(asked, found, strict=True)
    ]
    if kind == "word":
        words = [WordResult(word=word, source=source, translations=row) for word, source, row in rows]
        return WordResponse(model=model, index=index, results=words)
    sentences = [SentenceResult(text=text, source=source, translations=row) for text, source, row in rows]
    return SentenceResponse(model=model, index=index, results=sentences)


def _asked(translator: Translator, kind: Kind, choices: Choices, text: str) -> Asked:
    """A text is not translated into its own language where that was detected."""
    source = choices.source or translator.detect(text, kind=kind)
    if source is None:
        raise UsageError(f"the language of {text[:60]!r} is not clear: say it with --from")
    others = tuple(target for target in choices.target if target != source)
    return Asked(text, source, tuple(choices.target) if choices.source else others or tuple(choices.target))


def _found(translator: Translator, kind: Kind, choices: Choices, asked: Asked) -> dict[str, Answers]:
    search = translator.words if kind == "word" else translator.sentences
    return {
        target: likely(
            answers_of(search([asked.text], asked.source, target, choices.k)[0]), choices.min_confidence
        )
        for target in asked.targets
    }
