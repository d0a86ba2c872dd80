"""LibreTranslate's protocol, for its clients as they are (contract: docs.libretranslate.com, "API Usage").

`GET /languages` is the native route, which also has LibreTranslate's fields. Because answers are retrieved,
three things differ: `translatedText` is "" if nothing is likely enough (the setting min_confidence), a text
may be refused because its language is not recognised, and markup in a sentence is the corpus's or none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from fastapi import APIRouter
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from index.answers.answer import Answers, likely
from index.answers.request import Choices, Kind, Query
from index.answers.respond import check_answers, clean_texts, field_names
from index.languages import has_spaces
from index.text.identification import clear_language, has_letters
from index.text.normalisation import clean
from index.text.segments import MARKUP, Segment, as_translation, filled, segments, sentence_of, without_markup
from service import limits
from service.api.dependencies import EngineNow, SettingsNow
from service.api.libretranslate_schemas import (
    DETECT_BODY,
    TRANSLATE_BODY,
    Detected,
    DetectRequest,
    LibreTranslateHealth,
    Translated,
    TranslateRequest,
)
from service.api.validation import check_texts
from service.engine.engine import ServiceEngine
from service.http.access import check_body_key
from service.http.bodies import read_fields, validation_error
from service.http.problems import brief, invalid
from service.schemas.problems import Failure
from service.settings import Settings

FAILURES: dict[int | str, dict[str, Any]] = {"default": {"model": Failure, "description": "What went wrong."}}
router = APIRouter(tags=["LibreTranslate"], responses=FAILURES)

EXTRA_FORM_FIELDS = 16  # fields of a form in addition to its texts
MIN_DETECTED_CHANCE = 0.01  # of a language that /detect lists; the likeliest is always listed
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Text:
    """One text of a request, with its language and the probability of that language."""

    sent: str
    cleaned: str
    source: str
    chance: float = 1.0

    def needs(self, target: str) -> bool:
        """Whether the text must be translated: it has letters, and is in another language than the target."""
        return has_letters(self.cleaned) and self.source != target


@router.post(
    "/translate",
    summary="Translate, as LibreTranslate does",
    response_model=Translated,
    response_model_exclude_none=True,
    openapi_extra={"requestBody": TRANSLATE_BODY},
)
async def translate(request: Request, engine: EngineNow, settings: SettingsNow) -> Response:
    """Find the sentence of the index that is most likely the translation of each `q`.

    The translation is "" if none is likely enough. A text of several sentences is translated one by one; line
    breaks, space, emoji and tags around sentences stay where they are, tags inside of one do not, unless the
    corpus has the same. What has other placeholders or tags than the text is no answer, unless it is exact. A
    single word that is no sentence of the index is looked up among its words.
    """
    fields = await read_fields(request, limits.MAX_TEXTS + EXTRA_FORM_FIELDS)
    check_body_key(request, fields.get("api_key"))
    body = _read(TranslateRequest, fields)
    if body.alternatives > (limit := limits.MAX_K - 1):
        message = f"alternatives is {brief(body.alternatives)}, the limit is {limit}: lower it"
        raise invalid("alternatives", message, limit)
    choices = Choices(target=[body.target], k=body.alternatives + 1)
    check_texts("q", body.q, choices, limits.MAX_BODY_BYTES)
    (target,) = engine.languages.codes_of([("target", body.target)])
    body = body.model_copy(update={"target": target})
    texts = await _texts(body, engine, settings.max_characters)
    parts = await engine.run("clean", partial(_segments, body, settings.max_characters), texts)
    answers = await _answers(texts, body, engine, settings)
    whole = await _put_together(texts, parts, answers, body, engine, settings)
    results = [_translated(*row, body) for row in zip(texts, answers, whole, strict=True)]
    if not isinstance(fields["q"], list):
        return JSONResponse(results[0])
    return JSONResponse({name: [result[name] for result in results] for name in results[0]})


@router.post(
    "/detect",
    summary="Detect a language, as LibreTranslate does",
    response_model=list[Detected],
    openapi_extra={"requestBody": DETECT_BODY},
)
async def detect(request: Request, engine: EngineNow, settings: SettingsNow) -> Response:
    """List the languages that the text may be in, the likeliest first.

    Languages with a probability below 1 % are left out; for a text without letters the list is empty.
    """
    fields = await read_fields(request, EXTRA_FORM_FIELDS)
    check_body_key(request, fields.get("api_key"))
    body = _read(DetectRequest, fields)
    check_texts("q", [body.q], Choices(target=["none"]), settings.max_characters)
    (chances,) = await engine.run("detect", engine.translator.language_chances, [clean(body.q)])
    ranked = enumerate(chances.items())
    listed = [row for place, row in ranked if place == 0 or row[1] >= MIN_DETECTED_CHANCE]
    return JSONResponse([_detected(*row) for row in listed])


@router.get("/health", summary="Check readiness, as LibreTranslate does")
async def health(engine: EngineNow) -> LibreTranslateHealth:
    """Succeeds once the index is open and warmed up."""
    return LibreTranslateHealth()


def _read(kind: type[Model], fields: dict[str, object]) -> Model:
    """Validate the fields; as in LibreTranslate, null and empty values count as left out."""
    try:
        return kind.model_validate({name: value for name, value in fields.items() if value not in (None, "")})
    except ValidationError as error:
        raise validation_error(error) from None


def _segments(body: TranslateRequest, longest: int, texts: Sequence[Text]) -> list[list[Segment]]:
    """The segments of texts that must be translated; RequestError for long sentences, or too many."""
    markup, choices = body.format == "html", Choices(target=[body.target])
    needed = [text if text.needs(body.target) else Text("", "", "") for text in texts]
    parts = [segments(text.sent, text.source, markup=markup) for text in needed]
    rows = [[part.text for part in row if not part.between] for row in parts]
    check_texts("q", [max(row, key=len, default="") for row in rows], choices, longest, "a sentence of ")
    check_answers("q", sum(len(row) for row in rows if len(row) > 1), choices, limits.MAX_ANSWERS)
    return parts


async def _texts(body: TranslateRequest, engine: ServiceEngine, read: int) -> list[Text]:
    """The texts, whose languages `read` characters tell; ProblemError for one unknown or not recognised."""
    markup = body.format == "html"
    cleaned = await clean_texts(body.q, engine, lambda text: clean(without_markup(text) if markup else text))
    if body.source != "auto":
        (source,) = engine.languages.codes_of([("source", body.source)])
        return [Text(sent, text, source) for sent, text in zip(body.q, cleaned, strict=True)]
    rows = await engine.run("detect", engine.translator.language_chances, [text[:read] for text in cleaned])
    named = zip(field_names("q", cleaned), cleaned, rows, strict=True)
    engine.languages.check_clear(
        [(name, chances, clear_language(chances)) for name, text, chances in named if has_letters(text)]
    )
    return [
        Text(sent, text, *next(iter(chances.items()), ("", 0.0)))
        for sent, text, chances in zip(body.q, cleaned, rows, strict=True)
    ]


async def _answers(
    texts: Sequence[Text], body: TranslateRequest, engine: ServiceEngine, settings: Settings
) -> list[Answers | None]:
    """The likely answers to each text, () if it is no sentence, so long; None if it needs no translation."""
    needed = [text for text in texts if text.needs(body.target)]
    for source in sorted({text.source for text in needed}):
        engine.languages.check_reachable("q", source, {body.target: body.target})

    async def ask(kind: Kind, asked: Sequence[Text]) -> dict[Text, Answers]:
        queries = [
            Query(kind, text.cleaned, text.source, body.target, body.alternatives + 1) for text in asked
        ]
        rows = await engine.answers(queries) if queries else []
        return {text: likely(row, settings.min_confidence) for text, row in zip(asked, rows, strict=True)}

    short = [text for text in needed if len(text.cleaned) <= settings.max_characters]
    found = dict.fromkeys(needed, ()) | await ask("sentence", short)
    words = [  # of which the corpus has no translation, and that are none of its sentences
        text
        for text, row in found.items()
        if text.cleaned.isalpha()
        and not (row and (row[0].match in ("exact", "memory") or row[0].gloss == text.cleaned))
    ]
    for text, known in (await ask("word", words)).items():
        # A word that nobody has read is spelled like another; a sentence may have no spaces.
        if known and (known[0].in_vocabulary or not has_spaces(text.source)):
            found[text] = known
    return [found.get(text) for text in texts]


async def _put_together(
    texts: Sequence[Text],
    parts: Sequence[Sequence[Segment]],
    answers: Sequence[Answers | None],
    body: TranslateRequest,
    engine: ServiceEngine,
    settings: Settings,
) -> list[str | None]:
    """Put the translations of the sentences of each text in their places.

    None for a text whose sentences do not all have a translation. One that the translation memory has as a
    whole, and one of a single sentence, gets its first answer in the place of all its sentences.
    """
    markup = body.format == "html"
    asked = [_sentences(row, matches) for row, matches in zip(parts, answers, strict=True)]
    queries = [
        Query("sentence", sentence_of(part, markup=markup), text.source, body.target)
        for text, row in zip(texts, asked, strict=True)
        for part in row
    ]
    found = iter(await engine.answers(queries) if queries else [])
    whole: list[str | None] = []
    for row, own, matches in zip(parts, asked, answers, strict=True):
        shown = row if own else _as_one(row)
        sentences = [part for part in shown if not part.between]
        known = [likely(next(found), settings.min_confidence) for _ in own] or [matches or ()]
        # Which the answer may have, too.
        mark = "".join(part.text.strip() for part in shown[:1] if part.between and not own)
        texts_of = {
            part: written[0].removeprefix(mark).strip()
            for part, row_of in zip(sentences, known, strict=False)
            if (written := _written(row_of, part, body))
        }
        is_known = sentences and texts_of.keys() >= {*sentences}
        whole.append(filled(shown, texts_of.__getitem__) if is_known else None)
    return whole


def _sentences(parts: Sequence[Segment], answers: Answers | None) -> list[Segment]:
    """The sentences of a text that are asked one by one; [] for one that is answered as a whole."""
    sentences = [part for part in parts if not part.between]
    known = answers and answers[0].match in ("exact", "memory", "paraphrase")
    # An answer as a whole would take the place of elements that are left out.
    left_out = has_letters(MARKUP.sub("", "".join(part.text for part in parts if part.between)))
    return [] if answers is None or len(sentences) < 2 or (known and not left_out) else sentences


def _as_one(parts: Sequence[Segment]) -> list[Segment]:
    """The segments with all sentences, and what is between them, as one sentence."""
    places = [number for number, part in enumerate(parts) if not part.between]
    first, last = (places[0], places[-1] + 1) if places else (0, 0)
    middle = "".join(part.text for part in parts[first:last])
    return [*parts[:first], *([Segment(middle)] if middle else []), *parts[last:]]


def _translated(
    text: Text, answers: Answers | None, joint: str | None, body: TranslateRequest
) -> dict[str, object]:
    """The result for one text; a text that needs no translation is its own translation."""
    translations = [text.sent] if answers is None else _written(answers, Segment(text.sent), body)
    if joint is not None:
        translations.insert(0, joint)
    result: dict[str, object] = {"translatedText": translations[0] if translations else ""}
    if body.source == "auto":
        result["detectedLanguage"] = _detected(text.source, text.chance)
    if body.alternatives > 0:
        others = [translation for translation in translations[1:] if translation != translations[0]]
        result["alternatives"] = list(dict.fromkeys(others))
    return result


def _written(answers: Answers, sentence: Segment, body: TranslateRequest) -> list[str]:
    """The answers as they are in the place of a sentence; without those that cannot be."""
    pairs = ((answer.text, answer.original.text if answer.original else "") for answer in answers)
    rows = (as_translation(sentence, *pair, markup=body.format == "html") for pair in pairs)
    return [row for row in rows if row is not None]


def _detected(code: str, chance: float) -> dict[str, object]:
    return {"confidence": round(100 * chance, 1), "language": code}
