"""Checking a request's counts and lengths against the settings, before anything looks into its texts."""

from collections.abc import Iterable, Sequence

from index.text import clean
from service.problems import FieldError, ProblemError, ProblemType
from service.schemas import Choices, Kind
from service.settings import Settings

FIELDS: dict[Kind, str] = {"sentence": "text", "word": "word"}


def check_texts(kind: Kind, texts: Sequence[str], choices: Choices, settings: Settings) -> list[str]:
    """The texts, cleaned; else ProblemError, naming each field at fault and its limit."""
    field = FIELDS[kind]
    check_sizes(kind, field, texts, choices, settings)
    cleaned = [clean(text) for text in texts]
    _refuse(
        FieldError(field=name, message=f"{name} is empty: give a {kind}", limit=1)
        for name, text in zip(names(field, texts), cleaned, strict=True)
        if not text
    )
    return cleaned


def check_sizes(kind: Kind, field: str, texts: Sequence[str], choices: Choices, settings: Settings) -> None:
    """ProblemError for more or longer texts of `field`, or more answers, than the settings allow."""
    most = settings.max_characters if kind == "sentence" else settings.max_word_characters
    _refuse([*_check_counts(field, texts, choices, settings), *_check_lengths(field, texts, most)])


def names(field: str, values: Sequence[object]) -> list[str]:
    """What to call each of the values: the field itself for a single one, else field[i]."""
    return [field] if len(values) == 1 else [f"{field}[{i}]" for i in range(len(values))]


def _check_counts(
    field: str, texts: Sequence[str], choices: Choices, settings: Settings
) -> Iterable[FieldError]:
    targets, k = len(choices.target), choices.k
    yield from _over(field, f"{field} has {{}} entries", len(texts), settings.max_texts, "split the request")
    yield from _over("target", "target has {} entries", targets, settings.max_targets, "split the request")
    yield from _over("k", "k is {}", k, settings.max_k, "lower it")
    if choices.explain:
        told = f"explain is asked of {{}} answers ({field}, target and k)"
        asked = len(texts) * targets * k
        yield from _over("explain", told, asked, settings.max_explained, "lower k or split the request")
    if len(texts) <= settings.max_texts and targets <= settings.max_targets and k <= settings.max_k:
        told = f"{field}, target and k ask for {{}} answers in all"
        yield from _over(
            "k", told, len(texts) * targets * k, settings.max_answers, "lower k or split the request"
        )


def _check_lengths(field: str, texts: Sequence[str], most: int) -> Iterable[FieldError]:
    for name, text in zip(names(field, texts), texts, strict=True):
        yield from _over(name, f"{name} has {{}} characters", len(text), most, "shorten it")


def _over(field: str, told: str, count: int, most: int, advice: str) -> Iterable[FieldError]:
    if count > most:
        message = f"{told.format(count)}, the limit is {most}: {advice}"
        yield FieldError(field=field, message=message, limit=most)


def _refuse(errors: Iterable[FieldError]) -> None:
    found = list(errors)
    if found:
        raise ProblemError.of_fields(ProblemType.INVALID_REQUEST, found)
