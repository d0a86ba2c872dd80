"""Validation of requests against the settings and the languages of the index, before texts are processed."""

from collections.abc import Iterable, Mapping, Sequence

from index.errors import listed
from index.text.identification import clear_language, likely_languages
from service import limits
from service.engine.engine import Engine
from service.engine.languages import Languages, Query
from service.http.problems import ProblemError, ProblemType, brief
from service.schemas import Choices, FieldError, Kind
from service.settings import Settings

TEXT_FIELDS: dict[Kind, str] = {"sentence": "text", "word": "word"}


async def check_texts(
    kind: Kind, texts: Sequence[str], choices: Choices, settings: Settings, engine: Engine
) -> list[str]:
    """Clean the texts of a valid request; ProblemError names each invalid field and its limit."""
    field = TEXT_FIELDS[kind]
    check_sizes(kind, field, texts, choices, settings)
    cleaned = await engine.clean(texts)
    if not all(cleaned):
        _refuse(
            FieldError(field=name, message=f"{name} is empty: give a {kind}", limit=1)
            for name, text in zip(field_names(field, cleaned), cleaned, strict=True)
            if not text
        )
    return cleaned


def check_sizes(kind: Kind, field: str, texts: Sequence[str], choices: Choices, settings: Settings) -> None:
    """Raise ProblemError if `field` has more or longer texts, or asks for more answers, than allowed."""
    max_characters = settings.max_characters if kind == "sentence" else limits.MAX_WORD_CHARACTERS
    _refuse([*_check_counts(field, texts, choices), *_check_lengths(field, texts, max_characters)])


def check_parts(field: str, count: int, choices: Choices) -> None:
    """Raise ProblemError if `count` sentences would get more answers than allowed."""
    answers = count * len(choices.target) * choices.k
    if answers > limits.MAX_ANSWERS:
        fact = f"{field}, target and k ask for {answers} answers to {count} sentences"
        _refuse([_over(field, fact, limits.MAX_ANSWERS, "lower k or split the request")])


def field_names(field: str, values: Sequence[object]) -> list[str]:
    """The name of each value in errors: the field for a single value, otherwise field[i]."""
    return [field] if len(values) == 1 else [f"{field}[{i}]" for i in range(len(values))]


def check_languages(choices: Choices, languages: Languages) -> tuple[str | None, tuple[str, ...]]:
    """The source, if one is given, and the distinct targets; ProblemError for a language not in the index."""
    source = None if choices.source is None else languages.find(choices.source)
    targets = [languages.find(code) for code in choices.target]
    if None in targets or (source is None and choices.source is not None):
        given = [] if choices.source is None else [("source", choices.source)]
        given += zip(field_names("target", choices.target), choices.target, strict=True)
        errors = [
            unknown_language(field, code, languages) for field, code in given if languages.find(code) is None
        ]
        raise ProblemError.of_fields(ProblemType.UNKNOWN_LANGUAGE, errors)
    return source, tuple(dict.fromkeys(code for code in targets if code is not None))


def queries_from(
    source: str, field: str, texts: Sequence[str], targets: Sequence[str], languages: Languages
) -> list[Query]:
    """Queries for texts in the given source; ProblemError if it cannot be translated into each target."""
    reachable = languages.targets(source)
    errors = [
        unreachable_target(field, source, target, languages) for target in targets if target not in reachable
    ]
    if errors:
        raise ProblemError.of_fields(ProblemType.INVALID_REQUEST, errors)
    return [Query(text, source, tuple(targets)) for text in texts]


def queries_detected(
    chances: Sequence[Mapping[str, float]],
    field: str,
    texts: Sequence[str],
    targets: Sequence[str],
    languages: Languages,
) -> list[Query]:
    """Queries for texts in detected languages; `chances` are the probabilities of each text's languages.

    A text is not translated into its own language. Raises ProblemError if a text then has no target, or if
    its language is not clear.
    """
    names = field_names(field, texts)
    sources = [clear_language(row) for row in chances]
    errors = [
        unclear_language(name, row, languages)
        for name, source, row in zip(names, sources, chances, strict=True)
        if source is None
    ]
    if errors:
        raise ProblemError.of_fields(ProblemType.UNDETECTED_LANGUAGE, errors)
    queries: list[Query] = []
    for name, text, source in zip(names, texts, sources, strict=True):
        assert source is not None
        other_targets = [target for target in targets if target != source]
        queries += queries_from(source, name, [text], other_targets or targets, languages)
    return queries


def unknown_language(field: str, code: str, languages: Languages) -> FieldError:
    """The error for the code of a language that the index does not have."""
    known = languages.codes
    return FieldError(
        field=field,
        message=f"{field} {code[:40]!r} is not a language of this index: use one of {listed(known)}",
        allowed=known,
    )


def unclear_language(field: str, chances: Mapping[str, float], languages: Languages) -> FieldError:
    """The error for a text in `field` whose language is not clear, or that is in no language."""
    candidates = likely_languages(chances)
    if not chances:
        message = f"{field} has no letters that would tell its language: give source"
    elif candidates:
        message = f"the language of {field} is not clear, it may be {', '.join(candidates)}: give source"
    else:
        message = f"the language of {field} was not recognised: give source"
    return FieldError(field="source", message=message, allowed=languages.codes, candidates=candidates)


def unreachable_target(field: str, source: str, target: str, languages: Languages) -> FieldError:
    """The error for a target that the text in `field` cannot be translated into."""
    reachable = list(languages.targets(source))
    reason = (
        f"is the language of {field} already" if target == source else f"cannot be reached from {source!r}"
    )
    return FieldError(
        field="target",
        message=f"target {target!r} {reason}: use one of {listed(reachable)}",
        allowed=reachable,
    )


def _check_counts(field: str, texts: Sequence[str], choices: Choices) -> Iterable[FieldError]:
    counted = [
        (field, f"{field} has {len(texts)} entries", len(texts), limits.MAX_TEXTS, "split the request"),
        (
            "target",
            f"target has {len(choices.target)} entries",
            len(choices.target),
            limits.MAX_TARGETS,
            "split the request",
        ),
        ("k", f"k is {brief(choices.k)}", choices.k, limits.MAX_K, "lower it"),
    ]
    errors = [
        _over(name, fact, limit, advice) for name, fact, count, limit, advice in counted if count > limit
    ]
    yield from errors
    answers = len(texts) * len(choices.target) * choices.k
    if answers > limits.MAX_ANSWERS and not errors:
        fact = f"{field}, target and k ask for {answers} answers in all"
        yield _over("k", fact, limits.MAX_ANSWERS, "lower k or split the request")


def _check_lengths(field: str, texts: Sequence[str], limit: int) -> Iterable[FieldError]:
    if max(map(len, texts), default=0) <= limit:  # nearly always
        return
    for name, text in zip(field_names(field, texts), texts, strict=True):
        if len(text) > limit:
            yield _over(name, f"{name} has {len(text)} characters", limit, "shorten it")


def _over(field: str, fact: str, limit: int, advice: str) -> FieldError:
    return FieldError(field=field, message=f"{fact}, the limit is {limit}: {advice}", limit=limit)


def _refuse(errors: Iterable[FieldError]) -> None:
    field_errors = list(errors)
    if field_errors:
        raise ProblemError.of_fields(ProblemType.INVALID_REQUEST, field_errors)
