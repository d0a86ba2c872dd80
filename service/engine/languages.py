"""The languages of the index, and which of them a request may pair."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from index.search.translator import LanguageInfo
from service.api.checks import names
from service.api.schemas import Choices
from service.http.problems import FieldError, ProblemError, ProblemType


class Languages:
    """The languages of an index, found by code in any case (BCP 47 codes are case-insensitive)."""

    def __init__(self, languages: Iterable[LanguageInfo]) -> None:
        self._by_code = {language.code.lower(): language for language in languages}

    @property
    def codes(self) -> list[str]:
        return sorted(language.code for language in self._by_code.values())

    def find(self, code: str) -> str | None:
        """The code as the index spells it."""
        language = self._by_code.get(code.lower())
        return language.code if language else None

    def match(self, tag: str) -> str | None:
        """The language of a tag in any spelling ("pt_BR"), else that of its first part ("pt")."""
        code = tag.replace("_", "-").replace("@", "-")
        return self.find(code) or self.find(code.partition("-")[0])

    def targets(self, source: str) -> tuple[str, ...]:
        return self._by_code[source.lower()].targets


class Asked(NamedTuple):
    """A text to translate."""

    text: str
    source: str
    targets: tuple[str, ...]


def check_languages(choices: Choices, languages: Languages) -> tuple[str | None, tuple[str, ...]]:
    """The source, if one is given, and the targets, none twice; ProblemError if the index lacks one."""
    source = None if choices.source is None else languages.find(choices.source)
    targets = [languages.find(code) for code in choices.target]
    if None in targets or (source is None and choices.source is not None):
        given = [] if choices.source is None else [("source", choices.source)]
        given += zip(names("target", choices.target), choices.target, strict=True)
        errors = [unknown(field, code, languages) for field, code in given if languages.find(code) is None]
        raise ProblemError.of_fields(ProblemType.UNKNOWN_LANGUAGE, errors)
    return source, tuple(dict.fromkeys(code for code in targets if code is not None))


def ask_from(
    source: str, field: str, texts: Sequence[str], targets: Sequence[str], languages: Languages
) -> list[Asked]:
    """Texts whose source the request gives; ProblemError if it cannot be translated into each target."""
    possible = languages.targets(source)
    errors = [unreachable(field, source, target, languages) for target in targets if target not in possible]
    if errors:
        raise ProblemError.of_fields(ProblemType.INVALID_REQUEST, errors)
    return [Asked(text, source, tuple(targets)) for text in texts]


def ask_detected(
    detected: Sequence[str | None],
    field: str,
    texts: Sequence[str],
    targets: Sequence[str],
    languages: Languages,
) -> list[Asked]:
    """Texts whose source was detected. A text is not translated into its own language; ProblemError if that
    leaves it without a target, or if its language was not recognised."""
    labels = names(field, texts)
    errors = [
        undetected(label, languages) for label, source in zip(labels, detected, strict=True) if source is None
    ]
    if errors:
        raise ProblemError.of_fields(ProblemType.UNDETECTED_LANGUAGE, errors)
    asked: list[Asked] = []
    for label, text, source in zip(labels, texts, detected, strict=True):
        assert source is not None
        others = [target for target in targets if target != source]
        asked += ask_from(source, label, [text], others or targets, languages)
    return asked


def unknown(field: str, code: str, languages: Languages) -> FieldError:
    """What is wrong with the code of a language that the index does not hold."""
    known = languages.codes
    return FieldError(
        field=field,
        message=f"{field} {code[:40]!r} is not a language of this index: use one of {', '.join(known)}",
        allowed=known,
    )


def undetected(field: str, languages: Languages) -> FieldError:
    """What is wrong where `field` holds a text whose language was not recognised."""
    known = languages.codes
    return FieldError(
        field="source",
        message=f"the language of {field} was not recognised: give source, one of {', '.join(known)}",
        allowed=known,
    )


def unreachable(field: str, source: str, target: str, languages: Languages) -> FieldError:
    """What is wrong with a target that the text in `field` cannot be translated into."""
    possible = list(languages.targets(source))
    fault = (
        f"is the language of {field} already" if target == source else f"cannot be reached from {source!r}"
    )
    return FieldError(
        field="target",
        message=f"target {target!r} {fault}: use one of {', '.join(possible)}",
        allowed=possible,
    )
