"""LibreTranslate's protocol, for its clients as they are (contract: docs.libretranslate.com, "API Usage").

`GET /languages` is the native one, which has its fields. What is different, because answers are found and not
written: `translatedText` is "" where nothing is likely enough (drop_in_min_confidence), a text may be
refused because its language is not recognised, and an answer has none of the markup of the question.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from index.text.identification import SURE
from index.text.normalisation import clean
from service.api.checks import check_sizes, names
from service.api.dependencies import EngineNow, SettingsNow
from service.api.libretranslate_schemas import (
    DETECT_BODY,
    TRANSLATE_BODY,
    Detected,
    DetectOrder,
    Failure,
    FrontendSettings,
    Health,
    Named,
    Suggested,
    Translated,
    TranslateOrder,
)
from service.api.markup import text_of
from service.api.schemas import Choices
from service.engine.cache import Answers
from service.engine.engine import Engine
from service.engine.languages import Asked, undetected, unknown, unreachable
from service.http.bodies import read_fields
from service.http.keys import check_key
from service.http.problems import FieldError, ProblemError, ProblemType
from service.settings import Settings

router = APIRouter(tags=["LibreTranslate"])

FIELDS = 16  # of a form, beside its texts
LEAST_SHOWN = 0.01  # the least likely language that /detect names, beside the likeliest
Order = TypeVar("Order", bound=BaseModel)
SPEAKS_ALL = ProblemType.INTERNAL.status, ProblemType.METHOD_NOT_ALLOWED.status
READS = *SPEAKS_ALL, ProblemType.NOT_READY.status
TOO_MANY, TOO_LONG = ProblemType.TOO_MANY_REQUESTS.status, ProblemType.BODY_TOO_LARGE.status
TRANSLATES = *READS, 403, ProblemType.BAD_REQUEST.status, TOO_LONG, TOO_MANY


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that may fail with these statuses, in LibreTranslate's shape."""
    return {status: {"model": Failure, "description": "What went wrong."} for status in sorted(statuses)}


@dataclass(frozen=True)
class Text:
    """One text of a request, its language, and how likely it is in that."""

    sent: str
    cleaned: str
    source: str
    chance: float = 1.0

    def needs(self, target: str) -> bool:
        """Whether there is anything to translate: not where it is blank, or in the target language."""
        return bool(self.cleaned) and self.source != target


@router.post(
    "/translate",
    summary="Translate, as LibreTranslate does",
    response_model=Translated,
    response_model_exclude_none=True,
    responses=failures(*TRANSLATES),
    openapi_extra={"requestBody": TRANSLATE_BODY},
)
async def translate(request: Request, engine: EngineNow, settings: SettingsNow) -> Response:
    """The sentence of the index that most likely translates each `q`, "" where none is likely enough."""
    fields = await read_fields(request, settings.max_texts + FIELDS)
    order = _read(TranslateOrder, fields)
    await check_key(request, order.api_key)
    _check(order, settings)
    target = engine.languages.match(order.target)
    if target is None:
        raise ProblemError.of_fields(
            ProblemType.UNKNOWN_LANGUAGE, [unknown("target", order.target, engine.languages)]
        )
    texts = await _texts(order, engine)
    found = await _answers(texts, target, order, engine, settings)
    answers = [_translated(text, some, order) for text, some in zip(texts, found, strict=True)]
    return JSONResponse(_shaped(answers, isinstance(fields["q"], list)))


@router.post(
    "/detect",
    summary="Detect a language, as LibreTranslate does",
    response_model=list[Detected],
    responses=failures(*TRANSLATES),
    openapi_extra={"requestBody": DETECT_BODY},
)
async def detect(request: Request, engine: EngineNow, settings: SettingsNow) -> Response:
    """The languages that the text may be in, the likeliest first; those under 1 % are left out."""
    order = _read(DetectOrder, await read_fields(request, FIELDS))
    await check_key(request, order.api_key)
    check_sizes("sentence", "q", [order.q], Choices(target=["none"]), settings)
    (chances,) = await engine.language_chances([clean(order.q)])
    likely = [pair for place, pair in enumerate(chances.items()) if place == 0 or pair[1] >= LEAST_SHOWN]
    return JSONResponse([_detected(*pair) for pair in likely])


@router.post(
    "/suggest",
    summary="Refuse a suggestion",
    response_model=Suggested,
    responses=failures(*SPEAKS_ALL, 403),
)
async def suggest() -> Response:
    """Always refused, as by a LibreTranslate without suggestions: an index is built from corpora."""
    return JSONResponse(
        {"error": "suggestions are not taken by this server: add the sentence to its corpus"}, 403
    )


@router.get(
    "/frontend/settings", summary="Read the limits, as LibreTranslate does", responses=failures(*READS)
)
async def frontend_settings(engine: EngineNow, settings: SettingsNow) -> FrontendSettings:
    """The limits of this service in LibreTranslate's terms, with a pair of languages to begin with."""
    languages = engine.translator.languages
    first = next((one for one in languages if one.targets), languages[0])
    target = next((one for one in languages if one.code in first.targets), first)
    return FrontendSettings(
        charLimit=settings.max_characters,
        apiKeys=bool(settings.keys),
        keyRequired=bool(settings.keys),
        language={
            "source": Named(code=first.code, name=first.name),
            "target": Named(code=target.code, name=target.name),
        },
    )


@router.get("/health", summary="Check readiness, as LibreTranslate does", responses=failures(*READS))
async def health(engine: EngineNow) -> Health:
    """Answers once the index is open and warm."""
    return Health()


def _read(kind: type[Order], fields: dict[str, object]) -> Order:
    """The fields as an order; what is null or empty counts as left out, as LibreTranslate has it."""
    try:
        return kind.model_validate({name: value for name, value in fields.items() if value not in (None, "")})
    except ValidationError as error:
        raise RequestValidationError(
            [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors(include_url=False)]
        ) from None


def _check(order: TranslateOrder, settings: Settings) -> None:
    most = settings.max_k - 1
    if order.alternatives > most:
        told = f"alternatives is {order.alternatives}, the limit is {most}: lower it"
        raise ProblemError.of_fields(
            ProblemType.INVALID_REQUEST, [FieldError(field="alternatives", message=told, limit=most)]
        )
    choices = Choices(target=[order.target], k=order.alternatives + 1)
    check_sizes("sentence", "q", order.q, choices, settings)


async def _texts(order: TranslateOrder, engine: Engine) -> list[Text]:
    """The texts with their languages; ProblemError for a language that is unknown or not recognised."""
    cleaned = [clean(text_of(text) if order.format == "html" else text) for text in order.q]
    if order.source != "auto":
        source = engine.languages.match(order.source)
        if source is None:
            raise ProblemError.of_fields(
                ProblemType.UNKNOWN_LANGUAGE, [unknown("source", order.source, engine.languages)]
            )
        return [Text(sent, text, source) for sent, text in zip(order.q, cleaned, strict=True)]
    likeliest = [next(iter(chances.items()), ("", 0.0)) for chances in await engine.language_chances(cleaned)]
    errors = [
        undetected(name, engine.languages)
        for name, text, (_, chance) in zip(names("q", cleaned), cleaned, likeliest, strict=True)
        if text and chance < SURE
    ]
    if errors:
        raise ProblemError.of_fields(ProblemType.UNDETECTED_LANGUAGE, errors)
    return [
        Text(sent, text, code, chance)
        for sent, text, (code, chance) in zip(order.q, cleaned, likeliest, strict=True)
    ]


async def _answers(
    texts: Sequence[Text], target: str, order: TranslateOrder, engine: Engine, settings: Settings
) -> list[Answers | None]:
    """The answers to each text that are likely enough; None for one that needs no translation."""
    needed = [text for text in texts if text.needs(target)]
    errors = [
        unreachable("q", source, target, engine.languages)
        for source in sorted({text.source for text in needed})
        if target not in engine.languages.targets(source)
    ]
    if errors:
        raise ProblemError.of_fields(ProblemType.INVALID_REQUEST, errors)
    asked = [Asked(text.cleaned, text.source, (target,)) for text in needed]
    least = settings.drop_in_min_confidence
    found = iter(await engine.translate("sentence", asked, order.alternatives + 1, least))
    return [next(found)[target] if text.needs(target) else None for text in texts]


def _translated(text: Text, answers: Answers | None, order: TranslateOrder) -> dict[str, object]:
    """What one text gets; a text that is blank or in the target language already is its own translation."""
    found = [text.sent] if answers is None else [_written(answer.text, order) for answer in answers]
    told: dict[str, object] = {"translatedText": found[0] if found else ""}
    if order.source == "auto":
        told["detectedLanguage"] = _detected(text.source, text.chance)
    if order.alternatives > 0:
        told["alternatives"] = list(dict.fromkeys(one for one in found[1:] if one != found[0]))
    return told


def _shaped(answers: Sequence[dict[str, object]], many: bool) -> dict[str, object]:
    """A single `q` gets single values, a list gets lists."""
    if not many:
        return answers[0]
    return {name: [answer[name] for answer in answers] for name in answers[0]}


def _written(text: str, order: TranslateOrder) -> str:
    return html.escape(text, quote=False) if order.format == "html" else text


def _detected(code: str, chance: float) -> dict[str, object]:
    return {"confidence": round(100 * chance, 1), "language": code}
