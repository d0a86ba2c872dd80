"""The limits on a request for translations, checked before any text is processed."""

from collections.abc import Iterable, Sequence

from index.answers.request import Choices
from index.answers.respond import field_names
from index.errors import Fault, RequestError
from service import limits
from service.http.problems import brief


def check_texts(field: str, texts: Sequence[str], choices: Choices, longest: int, of: str = "") -> None:
    """Raise RequestError for more or longer texts, or more answers, than allowed.

    `texts` are those in `field`, or the longest `of` each, of up to `longest` characters.
    """
    if faults := [*_too_many(field, texts, choices), *_too_long(field, texts, longest, of)]:
        raise RequestError(faults[0].message, faults)


def _too_many(field: str, texts: Sequence[str], choices: Choices) -> Iterable[Fault]:
    targets = len(choices.target)
    counted = [
        (len(texts), field, f"{field} has {len(texts)} entries", limits.MAX_TEXTS, "split the request"),
        (targets, "target", f"target has {targets} entries", limits.MAX_TARGETS, "split the request"),
        (choices.k, "k", f"k is {brief(choices.k)}", limits.MAX_K, "lower it"),
    ]
    faults = [_over(name, fact, most, cure) for count, name, fact, most, cure in counted if count > most]
    yield from faults
    answers = len(texts) * targets * choices.k
    if answers > limits.MAX_ANSWERS and not faults:
        fact = f"{field}, target and k ask for {answers} answers in all"
        yield _over("k", fact, limits.MAX_ANSWERS, "lower k or split the request")


def _too_long(field: str, texts: Sequence[str], limit: int, of: str) -> Iterable[Fault]:
    for name, text in zip(field_names(field, texts), texts, strict=True):
        if len(text) > limit:
            yield _over(name, f"{name} has {of}{len(text)} characters", limit, "shorten it")


def _over(field: str, fact: str, limit: int, advice: str) -> Fault:
    return Fault(field, f"{fact}, the limit is {limit}: {advice}", limit=limit)
