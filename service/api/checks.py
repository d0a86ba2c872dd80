"""Checking a request's counts and lengths against the settings, before anything looks into its texts."""

from collections.abc import Iterable, Sequence

from index.text.normalisation import clean
from service.api.schemas import Choices, Kind
from service.http.problems import FieldError, ProblemError, ProblemType
from service.settings import Settings

FIELDS: dict[Kind, str] = {"sentence": "text", "word": "word"}


def check_texts(kind: Kind, texts: Sequence[str], choices: Choices, settings: Settings) -> list[str]:
    """The texts, cleaned; else ProblemError, naming each field at fault and its limit."""
    field = FIELDS[kind]
    check_sizes(kind, field, texts, choices, settings)
    cleaned = [clean(text) for text in texts]
    if not all(cleaned):
        _refuse(
            FieldError(field=name, message=f"{name} is empty: give a {kind}", limit=1)
            for name, text in _named(field, cleaned)
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
    count, targets, k = len(texts), len(choices.target), choices.k
    asked, many = count * targets * k, False
    if count > settings.max_texts:
        many = True
        yield _over(field, f"{field} has {count} entries", settings.max_texts, "split the request")
    if targets > settings.max_targets:
        many = True
        yield _over("target", f"target has {targets} entries", settings.max_targets, "split the request")
    if k > settings.max_k:
        many = True
        yield _over("k", f"k is {k}", settings.max_k, "lower it")
    if choices.explain and asked > settings.max_explained:
        told = f"explain is asked of {asked} answers ({field}, target and k)"
        yield _over("explain", told, settings.max_explained, "lower k or split the request")
    if asked > settings.max_answers and not many:
        told = f"{field}, target and k ask for {asked} answers in all"
        yield _over("k", told, settings.max_answers, "lower k or split the request")


def _check_lengths(field: str, texts: Sequence[str], most: int) -> Iterable[FieldError]:
    if max(map(len, texts), default=0) <= most:  # nearly always
        return
    for name, text in _named(field, texts):
        if len(text) > most:
            yield _over(name, f"{name} has {len(text)} characters", most, "shorten it")


def _named(field: str, texts: Sequence[str]) -> Iterable[tuple[str, str]]:
    return zip(names(field, texts), texts, strict=True)


def _over(field: str, told: str, most: int, advice: str) -> FieldError:
    return FieldError(field=field, message=f"{told}, the limit is {most}: {advice}", limit=most)


def _refuse(errors: Iterable[FieldError]) -> None:
    found = list(errors)
    if found:
        raise ProblemError.of_fields(ProblemType.INVALID_REQUEST, found)
