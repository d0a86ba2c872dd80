"""Filling a document from the translation memory: exact matches as translated, others as fuzzy."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from index.documents.document import LONGEST_DOCUMENT, Document, suffix_of
from index.errors import CorpusError, UnknownLanguageError, UsageError
from index.formats.streams import open_stream
from index.languages import lookup
from index.search.ranking import Match
from index.search.translator import Translator
from index.storage.files import output_file

# extension -> module:class; modules are imported on use: some need lxml or Babel.
DOCUMENT_FORMATS = {
    ".po": "po:PoDocument",
    ".pot": "po:PoDocument",
    ".xliff": "xliff:XliffDocument",
    ".xlf": "xliff:XliffDocument",
    ".tmx": "tmx:TmxDocument",
    ".json": "keyed:JsonDocument",
    ".arb": "keyed:JsonDocument",
    ".txt": "plain:PlainDocument",
}
# Bytes of which each object of a format has at least one. All objects are in memory, with or without a text.
_LINES = (
    b"\n",
    b"\r",
    b"\v",
    b"\f",
    b"\x1c",
    b"\x1d",
    b"\x1e",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\xe2\x80\xa9",
)
VALUE_MARKS = {
    "po": (*_LINES, *[b"msgid"] * 8),  # since Babel's messages are large
    "xliff": (b"<", b"=", b"&"),
    "tmx": (b"<", b"=", b"&"),
    "keyed": (b",", b"[", b"{"),
    "plain": _LINES,
}
MARKS_A_TEXT = 20  # more than ordinary documents have
TEXTS_ASKED = 256  # at a time
TEXTS_DETECTED, CHARACTERS_DETECTED = 100, 1000  # at most, to identify the language of a document


@dataclass(frozen=True)
class Summary:
    """How many texts of a document were `translated` (exact), `fuzzy` (similar) or left `empty`.

    `kept` texts had a translation before. `fuzzy_written`: whether fuzzy translations are in the file.
    """

    translated: int
    fuzzy: int
    empty: int
    kept: int
    fuzzy_written: bool


def open_document(content: bytes, name: str, target: str, most_texts: int | None = None) -> Document:
    """Read a document, whose format is that of its `name`. Raises UsageError, CorpusError.

    With `most_texts`, documents with more texts are refused; those with far more objects even before parsing.
    """
    where = DOCUMENT_FORMATS.get(suffix_of(name))
    if where is None:
        raise UsageError(f"{name}: not a file that can be filled: give one of {', '.join(DOCUMENT_FORMATS)}")
    if len(content) > LONGEST_DOCUMENT:
        raise CorpusError(f"{name}: longer than {LONGEST_DOCUMENT} bytes: divide it")
    module, _, kind = where.partition(":")
    if most_texts is not None and sum(map(content.count, VALUE_MARKS[module])) > MARKS_A_TEXT * most_texts:
        raise UsageError(f"{name}: more lines, elements or values than {most_texts} texts need: divide it")
    document: Document = getattr(import_module(f"index.documents.{module}"), kind)(content, name, target)
    if most_texts is not None and len(document.units) > most_texts:
        raise UsageError(f"{name}: {len(document.units)} texts, the limit is {most_texts}: divide it")
    return document


def fill(document: Document, matches: Sequence[Sequence[Match]], *, fuzzy: bool | None = None) -> Summary:
    """Fill each unit with its first match.

    `fuzzy`: whether to write matches that are not exact; by default, only if the format can mark them.
    """
    written = document.marks_fuzzy if fuzzy is None else fuzzy
    counts = Counter[str]()
    for unit, answers in zip(document.units, matches, strict=True):
        if not answers:
            counts["empty"] += 1
            continue
        exact = answers[0].match == "exact" and not unit.has_codes
        counts["translated" if exact else "fuzzy"] += 1
        if exact or written:
            unit.fill(answers[0], fuzzy=not exact)
    return Summary(counts["translated"], counts["fuzzy"], counts["empty"], document.kept, written)


def source_language(document: Document, translator: Translator, given: str | None) -> str:
    """The language of a document's texts: the given one, or the one it states, or that of most texts.

    Raises UnknownLanguageError, UsageError if the language is not clear.
    """
    known = [info.code for info in translator.languages]
    stated = given or document.source
    if stated is not None:
        if (code := lookup(stated, known)) is None:
            raise UnknownLanguageError(f"no language {stated!r} here; there are: {', '.join(sorted(known))}")
        return code
    texts = [unit.text[:CHARACTERS_DETECTED] for unit in document.units[:TEXTS_DETECTED]]
    detected = Counter(code for code in map(translator.detect, texts) if code is not None)
    if not detected:
        raise UsageError("the language of the file was not recognised: give it (--from)")
    return detected.most_common(1)[0][0]


def translate_file(
    translator: Translator,
    path: Path,
    out: Path,
    target: str,
    source: str | None = None,
    *,
    fuzzy: bool | None = None,
) -> Summary:
    """Fill `path` and write it to `out`. Raises UsageError, CorpusError."""
    with open_stream(path) as stream:
        content = stream.read(LONGEST_DOCUMENT + 1)
    document = open_document(content, str(path), target)
    code = source_language(document, translator, source)
    texts = [unit.text for unit in document.units]
    matches: list[list[Match]] = []
    for begin in range(0, len(texts), TEXTS_ASKED):
        matches += translator.remember(texts[begin : begin + TEXTS_ASKED], code, target)
    summary = fill(document, matches, fuzzy=fuzzy)
    with output_file(out) as draft, draft.open("wb") as file:
        document.write(file)
    return summary
