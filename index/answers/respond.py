"""From a request to its response, whoever asks and wherever the work is done."""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

from index.answers.answer import (
    Answers,
    PartResult,
    SentenceResponse,
    SentenceResult,
    WordResponse,
    WordResult,
    likely,
)
from index.answers.request import Choices, Kind, Query, Request, SentenceRequest, WordRequest
from index.answers.translator import Translator
from index.errors import Fault, RequestError
from index.text.identification import clear_language
from index.text.normalisation import clean
from index.text.segments import may_be_several, sentences

AT_ONCE = 4096  # characters that are cleaned or divided without a thread
WorkStep = Literal["clean", "detect", "encode"]
Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Work:
    """The slow steps of answering, done at once; a service does them with those of other requests."""

    def __init__(self, translator: Translator) -> None:
        self.translator = translator

    async def answers(self, queries: Sequence[Query]) -> list[Answers]:
        """Answer queries, as Translator.answer does."""
        return self.translator.answer(queries)

    async def run(
        self, step: WorkStep, act: Callable[[Sequence[Item]], list[Outcome]], items: Sequence[Item]
    ) -> list[Outcome]:
        """Call `act` on some items, of which `step` says what is done with them."""
        return act(items)


class SourceText(NamedTuple):
    """A cleaned text, its language, and its targets as they were sent -> their codes."""

    text: str
    source: str
    targets: Mapping[str, str]

    def queries(self, kind: Kind, k: int) -> Iterator[Query]:
        return (Query(kind, self.text, self.source, target, k) for target in self.targets.values())


def answer(translator: Translator, request: Request) -> SentenceResponse | WordResponse:
    """Answer a request in this process. Raises RequestError for what cannot be answered."""
    return _at_once(respond(translator, request, Work(translator)))


async def respond(
    translator: Translator, request: Request, work: Work, most_answers: int | None = None
) -> SentenceResponse | WordResponse:
    """Answer a request. `most_answers`: to the sentences of all its texts together.

    Raises RequestError for what cannot be answered.
    """
    kind, field = request.kind, TEXT_FIELDS[request.kind]
    cleaned = await clean_texts(request.texts, work)
    names = field_names(field, cleaned)
    empty = [
        Fault(name, f"{name} is empty: give a {kind}", limit=1)
        for name, text in zip(names, cleaned, strict=True)
        if not text
    ]
    if empty:
        raise RequestError(empty[0].message, empty)
    asked = await _asked(translator, request, names, cleaned, work)
    divided = await divide_texts(asked, request, work, most_answers)
    rows = iter(await work.answers([query for text in asked for query in text.queries(kind, request.k)]))
    chosen = partial(
        likely,
        min_confidence=request.min_confidence,
        near=translator.confidence.near if "near" in request.include else None,
    )
    found = [{target: chosen(next(rows)) for target in text.targets} for text in asked]
    sources = [request.source or text.source for text in asked]
    named = {"model": translator.model, "index": translator.version}
    columns = zip(request.texts, sources, found, strict=True)
    response: SentenceResponse | WordResponse
    if isinstance(request, WordRequest):
        words = [WordResult(word=text, source=source, translations=row) for text, source, row in columns]
        response = WordResponse(**named, results=words)
    else:
        parts = await _parts(asked, divided, request, work, chosen)
        results = [
            SentenceResult(text=text, source=source, translations=row, sentences=part or None)
            for (text, source, row), part in zip(columns, parts, strict=True)
        ]
        response = SentenceResponse(**named, results=results)
    if "pictograms" in request.include:
        await _add_pictograms(translator, kind, asked, response.results, work)
    return response


TEXT_FIELDS: dict[Kind, str] = {"sentence": "text", "word": "word"}


def field_names(field: str, values: Sequence[object]) -> list[str]:
    """The name of each value in errors: the field for a single value, otherwise field[i]."""
    return [field] if len(values) == 1 else [f"{field}[{i}]" for i in range(len(values))]


async def clean_texts(texts: Sequence[str], work: Work, cleaner: Callable[[str], str] = clean) -> list[str]:
    """Clean texts; many or long ones as work, since normalising Unicode can take milliseconds."""
    if sum(map(len, texts)) <= AT_ONCE:
        return list(map(cleaner, texts))
    return await work.run("clean", partial(_each, cleaner), texts)


async def divide_texts(
    asked: Sequence[SourceText], request: Request, work: Work, most: int | None
) -> list[list[str]]:
    """Divide texts into sentences; [] for one that is one. RequestError for too many."""
    if request.kind == "word" or not any(may_be_several(text.text) for text in asked):  # nearly always
        return [[] for _ in asked]
    short = sum(len(text.text) for text in asked) <= AT_ONCE
    divided = _divided(asked) if short else await work.run("clean", _divided, asked)
    check_answers("text", sum(map(len, divided)), request, most)
    return divided


def check_answers(field: str, count: int, choices: Choices, most: int | None) -> None:
    """Raise RequestError if `count` sentences would get more than `most` answers."""
    answers = count * len(choices.target) * choices.k
    if most is not None and answers > most:
        fact = f"{field}, target and k ask for {answers} answers to {count} sentences"
        message = f"{fact}, the limit is {most}: lower k or split the request"
        raise RequestError(message, [Fault(field, message, limit=most)])


async def _asked(
    translator: Translator, request: Request, names: Sequence[str], cleaned: Sequence[str], work: Work
) -> list[SourceText]:
    """The texts with their languages; the targets of a text whose language was detected leave that out."""
    languages = translator.languages
    given = [] if request.source is None else [("source", request.source)]
    wanted = list(zip(field_names("target", request.target), request.target, strict=True))
    codes = languages.codes_of([*given, *wanted])
    targets = dict(zip(request.target, codes[len(given) :], strict=True))
    if request.source is not None:
        own = request.kind == "sentence"  # who names one language twice wants what means the same
        languages.check_reachable(TEXT_FIELDS[request.kind], codes[0], targets, own=own)
        return [SourceText(text, codes[0], targets) for text in cleaned]
    chances_of = translator.language_chances  # the method itself, which other requests ask, too
    detect = chances_of if request.kind == "sentence" else partial(chances_of, kind="word")
    chances = await work.run("detect", detect, cleaned)
    sources = [clear_language(row) for row in chances]
    languages.check_clear(zip(names, chances, sources, strict=True))
    asked = []
    for name, text, source in zip(names, cleaned, sources, strict=True):
        assert source is not None
        others = {sent: code for sent, code in targets.items() if code != source} or targets
        languages.check_reachable(name, source, others)
        asked.append(SourceText(text, source, others))
    return asked


async def _parts(
    asked: Sequence[SourceText],
    divided: Sequence[Sequence[str]],
    request: SentenceRequest,
    work: Work,
    chosen: Callable[[Answers], Answers],
) -> list[list[PartResult]]:
    """The separate answers to the sentences of each text of several."""
    parts = [[text._replace(text=part) for part in row] for text, row in zip(asked, divided, strict=True)]
    queries = [query for row in parts for part in row for query in part.queries("sentence", request.k)]
    answers = iter(await work.answers(queries) if queries else [])
    return [
        [
            PartResult(
                text=part.text,
                translations={target: chosen(next(answers)) for target in part.targets},
            )
            for part in row
        ]
        for row in parts
    ]


async def _add_pictograms(
    translator: Translator,
    kind: Kind,
    asked: Sequence[SourceText],
    results: Sequence[SentenceResult | WordResult],
    work: Work,
) -> None:
    """Add its pictograms to each text and answer."""
    texts: dict[tuple[Kind, str, str], None] = {}
    translated: list[tuple[SourceText, SentenceResult | WordResult | PartResult]] = []
    for text, result in zip(asked, results, strict=True):
        texts[kind, text.source, text.text] = None
        parts = result.sentences or () if isinstance(result, SentenceResult) else ()
        for part in (result, *parts):
            translated.append((text, part))
            for target, answers in part.translations.items():
                texts |= dict.fromkeys((kind, text.targets[target], answer.text) for answer in answers)
    rows = await work.run("encode", translator.pictograms_of, list(texts))
    seen = dict(zip(texts, rows, strict=True))
    for text, result in zip(asked, results, strict=True):
        result.pictograms = seen[kind, text.source, text.text]
    for text, part in translated:
        part.translations = {
            target: tuple(
                answer.model_copy(update={"pictograms": seen[kind, text.targets[target], answer.text]})
                for answer in answers
            )
            for target, answers in part.translations.items()
        }


def _each(act: Callable[[Item], Outcome], items: Sequence[Item]) -> list[Outcome]:
    return [act(item) for item in items]


def _divided(texts: Sequence[SourceText]) -> list[list[str]]:
    rows = [sentences(text.text, text.source) for text in texts]
    return [row if len(row) > 1 else [] for row in rows]


def _at_once(work: Coroutine[Any, Any, Outcome]) -> Outcome:
    """The result of a coroutine that waits for nothing."""
    try:
        work.send(None)
    except StopIteration as ended:
        result: Outcome = ended.value
        return result
    raise AssertionError("work in the calling thread waited")
