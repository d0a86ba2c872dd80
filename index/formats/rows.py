"""Rows with named columns (TSV, CSV, JSON Lines: an object a line) as sentences; two layouts.

One sentence a row: `text`, optionally `language` (or `lang`), `id`, `group`. Or all translations in one
row: a column per language, named by its code, in English or by its own name, or Hugging Face's `translation`
object; optionally `id`, in any case. All other columns are metadata; a column `metadata` may hold a JSON
object. Columns of other names can be mapped.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from index.errors import UsageError
from index.formats.sentence import (
    BadUnit,
    RecordNumber,
    Sentence,
    UnitError,
    check_repeated,
    local_group,
    named_object,
    parse_json,
    whole,
)
from index.formats.streams import read_good_lines
from index.languages import is_named, languages

TEXT, LANGUAGE, LANG, ID, GROUP, TRANSLATION = "text", "language", "lang", "id", "group", "translation"
METADATA_COLUMN = "metadata"
COLUMNS_HELP = "name a column `text`, or one by each language's code, or map them (--columns en=NAME,de=NAME)"
AS_NAMED: Mapping[str, str] = {}
_WITH_TERRITORY = re.compile(r"(.+) \(([A-Z]{2})\)")
LANGUAGE_ROLES = ("source", "target")  # of a column whose own name says the language, such as German


def columns_of(pairs: str) -> dict[str, str]:
    """`en=English,target=German` -> {name of a column: its meaning}. Raises UsageError."""
    columns: dict[str, str] = {}
    for pair in pairs.split(","):
        meaning, mark, name = (part.strip() for part in pair.partition("="))
        if not (meaning and mark and name) or name in columns:
            raise UsageError(f"{pair!r} is not MEANING=COLUMN, such as en=English or text=Sentence")
        if len(meaning) <= 3 and not is_named(meaning):
            raise UsageError(f"{meaning}: use qaa to qtz for a language the encoder does not know")
        code = language_of(name) if meaning in LANGUAGE_ROLES else meaning
        if code is None:
            raise UsageError(f"{name!r} is not named after a language: give its code, such as en={name}")
        columns[name] = code
    return columns


@cache
def _codes() -> Mapping[str, str]:
    known = languages().items()
    return {name.casefold(): code for code, found in known for name in (found.native, found.name)}


def row_sentences(
    path: Path, line: int, number: int, row: Mapping[str, Any], language: str | None
) -> Iterator[Sentence]:
    """Yield the sentences of row `number`, which begins at `line`. Raises CorpusError."""
    values = {name: value for name, value in row.items() if value is not None and value != ""}
    ids = sorted((name for name in values if name.casefold() == ID), key=ID.__ne__)
    sentence_id = str(values.pop(ids[0])) if ids else RecordNumber(number)
    group: object = local_group(path, number)
    if TEXT in row:
        code = values.pop(LANGUAGE, None) or values.pop(LANG, None) or language
        if not isinstance(code, str):
            raise UnitError(path, line, "no language: give --corpus LANG=FILE, or name a column `language`")
        texts, group = {code: values.pop(TEXT, "")}, values.pop(GROUP, None)
    elif not isinstance(texts := values.pop(TRANSLATION, None), Mapping):
        named = {name: code for name in row if (code := language_of(name, language))}
        codes = {name: code for name, code in named.items() if name == code or code not in row}
        texts = {code: values.pop(name) for name, code in codes.items() if name in values}
        if not codes:
            raise UnitError(path, line, f"no text in it: {COLUMNS_HELP}")
    values |= named_object(METADATA_COLUMN, values.pop(METADATA_COLUMN, {}))
    check_repeated(path, line, values, len(texts))
    for code, text in texts.items():
        if not isinstance(text, str):
            raise UnitError(path, line, f"a text is {type(text).__name__}, not a string: write strings")
        yield Sentence(sentence_id, text, code, line, values, None if group is None else str(group))


def language_of(name: str, language: str | None = None) -> str | None:
    """The language that a column is named by: `de`, `German`, `Deutsch`, `Deutsch (AT)`; never `ID`."""
    if name.casefold() == ID:  # not Indonesian
        return None
    if name == language or is_named(name):
        return name
    if named := _WITH_TERRITORY.fullmatch(name):
        return f"{code}-{named[2]}" if (code := _codes().get(named[1].casefold())) else None
    return _codes().get(name.casefold())


def read_jsonl(
    path: Path, language: str | None, columns: Mapping[str, str] = AS_NAMED, encoding: str | None = None
) -> Iterator[Sentence | BadUnit]:
    """Yield the sentences of every line of a file of JSON Lines, whose keys are columns."""
    for number, line in read_good_lines(path, encoding):
        if isinstance(line, BadUnit):
            yield line
        elif line.strip():
            yield from whole(_jsonl_sentences(path, number, line, language, columns))


def _jsonl_sentences(
    path: Path, number: int, line: str, language: str | None, columns: Mapping[str, str]
) -> Iterator[Sentence]:
    try:
        row = parse_json(line)
    except ValueError as error:
        raise UnitError(path, number, f"not JSON ({error}): give one object per line") from error
    if not isinstance(row, dict):
        raise UnitError(path, number, f"{type(row).__name__}, not an object: give one object per line")
    values = {columns.get(name, name): value for name, value in row.items()}
    yield from row_sentences(path, number, number, values, language)
