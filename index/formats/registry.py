"""Corpus formats by name and extension, and the files of a corpus: which languages, which sentences."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

from index.errors import CorpusError, UsageError
from index.formats.document import Document
from index.formats.sentence import BadUnit, BadUnits, Sentence, UnitError, too_long
from index.formats.streams import LONGEST_FILE, READ_BYTES, open_stream, plain_suffixes
from index.languages import is_named

# Bytes of which each object of a file has at least one: all are in memory, with or without a text.
LINE_MARKS = tuple(mark.encode() for mark in "\n\r")
XML_MARKS = (b"<", b"=", b"&")
JSON_MARKS = (b",", b"[", b"{")
MARKS_A_TEXT = 12  # more than ordinary documents have


@dataclass(frozen=True)
class Format:
    """A format of corpora: what names it, and the module below this folder that reads and fills it.

    A module's `reader(path, language)`, for tables also (columns), yields sentences; one of a format that
    `fills` has an `open_document(content, label, target)`. A `keyed` format is an object of the module with
    both, as in keyed.py: files of one name translate each other. `lines`: it has one sentence a line;
    `plain`: and nothing else; `by_line`: line i translates line i of files named alike. `grouped`: records of
    a file, named by it, are groups. `bilingual`: a language that is given is that of the translations.
    """

    name: str
    extensions: tuple[str, ...] = ()
    module: str = ""
    reader: str = "read"
    root: str | None = None  # element of .xml
    table: bool = False
    lines: bool = False
    plain: bool = False
    by_line: bool = False
    grouped: bool = True
    keyed: str | None = None
    bilingual: bool = False
    fills: bool = False
    counted: bool = False  # its `check_tags` counts what `marks` do not tell
    marks: tuple[bytes, ...] = LINE_MARKS

    def load(self, function: str) -> Callable[..., Any]:
        """A function of the module, which is imported on first use."""
        module = import_module(f"index.formats.{self.module or self.name}")
        found: Callable[..., Any] = getattr(getattr(module, self.keyed) if self.keyed else module, function)
        return found


def _markup(name: str, extensions: tuple[str, ...], module: str, **options: Any) -> Format:  # noqa: ANN401
    """A format of text between tags, which is filled."""
    return Format(name, extensions, f"markup.{module}", fills=True, marks=XML_MARKS, **options)


XLIFF_EXTENSIONS = (".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".mxliff")

FORMATS = {
    form.name: form
    for form in (
        Format("txt", (".txt",), lines=True, plain=True, grouped=False, fills=True),
        Format("moses", (), "txt", "read_moses", lines=True, plain=True, by_line=True, grouped=False),
        Format("tsv", (".tsv",), reader="read_tsv", table=True, lines=True),
        Format("csv", (".csv",), "tsv", "read_csv", table=True, lines=True),
        Format("jsonl", (".jsonl", ".ndjson"), "rows", "read_jsonl", table=True, lines=True),
        _markup("tmx", (".tmx",), "tmx", root="tmx"),
        _markup("xliff", XLIFF_EXTENSIONS, "xliff", root="xliff"),
        Format("po", (".po", ".pot"), bilingual=True, fills=True),
        Format("json", (".json", ".arb"), "json_strings", keyed="FORMAT", fills=True, marks=JSON_MARKS),
        Format("xcstrings", (".xcstrings",), fills=True, marks=JSON_MARKS),
        Format("yaml", (".yaml", ".yml"), "yaml_strings", keyed="FORMAT", fills=True),
        _markup("android", (), "strings", root="resources", keyed="ANDROID"),
        _markup("stringsdict", (".stringsdict",), "strings", keyed="STRINGSDICT"),
        _markup("resx", (".resx",), "strings", keyed="RESX"),
        Format("strings", (".strings",), "text_strings", keyed="APPLE", fills=True),
        Format("properties", (".properties",), "text_strings", keyed="PROPERTIES", fills=True),
        Format("subtitles", (".srt", ".vtt"), "text_strings", keyed="SUBTITLES", fills=True),
        _markup("html", (".html", ".htm"), "html", root="html", grouped=False, counted=True),
        Format("docx", (".docx",), "markup.office", grouped=False, fills=True, counted=True),
        Format("xlsx", (".xlsx",), "markup.office", "read_table", table=True, fills=True, counted=True),
    )
}
FORMAT_OF_EXTENSION = {extension: form for form in FORMATS.values() for extension in form.extensions}
FORMAT_OF_ROOT = {form.root: form for form in FORMATS.values() if form.root}
DOCUMENT_EXTENSIONS = (*(extension for extension, form in FORMAT_OF_EXTENSION.items() if form.fills), ".xml")


@dataclass(frozen=True)
class Source:
    """A corpus file: all its languages unless `language` is given; `format` None: by extension.

    `columns` of a table: (name, meaning) as in rows.py. `encoding` of a text that does not say it, if not
    UTF-8. Malformed units are added to `bad`; without it the first one is an error.
    """

    path: Path
    language: str | None = None
    format: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    encoding: str | None = None
    bad: BadUnits | None = field(default=None, compare=False, repr=False)


def format_of(source: Source) -> Format:
    """The format: as given, by extension, by root element (.xml), else txt; NAME.de is Moses."""
    if source.format is not None:
        return FORMATS[source.format]
    last = next(reversed(plain_suffixes(source.path)), "")
    if last == ".parquet":  # whose readers take whatever sizes a file states
        raise CorpusError(f"{source.path}: Parquet is not supported: save it as JSON Lines or a table")
    if last == ".xml":
        from index.formats.markup.xml import root_of

        with open_stream(source.path) as file:
            root = root_of(file.read(READ_BYTES))
        if root not in FORMAT_OF_ROOT:
            roots = ", ".join(f"<{name}>" for name in FORMAT_OF_ROOT)
            raise CorpusError(f"{source.path}: root element <{root}> is not one of {roots}: give --format")
        return FORMAT_OF_ROOT[root]
    if is_named(last[1:]) and last not in FORMAT_OF_EXTENSION:
        return FORMATS["moses"]
    return FORMAT_OF_EXTENSION.get(last, FORMATS["txt"])


def read(source: Source) -> Iterator[Sentence]:
    """Yield every sentence of a file, with the file's own language codes. Raises CorpusError."""
    form = format_of(source)
    try:
        reader = form.load(form.reader)
    except ModuleNotFoundError as error:
        raise CorpusError(
            f"{source.path}: {error.name} is not installed: pip install 'passepartout[formats]'"
        ) from error
    if source.columns and not form.table:
        raise UsageError(f"{source.path}: {form.name} has no columns to map: leave --columns out")
    if source.encoding and (form.root or not (form.lines or form.keyed)):
        raise UsageError(f"{source.path}: {form.name} says how it is encoded: leave --encoding out")
    options: dict[str, Any] = {"columns": dict(source.columns)} if source.columns else {}
    options |= {"encoding": source.encoding} if source.encoding else {}
    for read_unit in reader(source.path, source.language, **options):
        reason = too_long(read_unit) if isinstance(read_unit, Sentence) else None
        unit = BadUnit(read_unit.line, reason) if reason else read_unit
        if isinstance(unit, Sentence):
            yield unit
        elif source.bad is None:
            raise UnitError(source.path, unit.line, unit.reason)
        else:
            source.bad.add(source.path, unit)


def open_document(content: bytes, name: str, target: str, most_texts: int | None = None) -> Document:
    """Read a file that is to be filled, whose format is that of its `name`. Raises UsageError, CorpusError.

    With `most_texts`, documents with more texts are refused; those with far more objects even before parsing.
    """
    form = FORMAT_OF_EXTENSION.get(suffix_of(name))
    if suffix_of(name) == ".xml":
        from index.formats.markup.xml import root_of

        form = FORMAT_OF_ROOT.get(root_of(content[:READ_BYTES]))
    if form is None or not form.fills:
        known = ", ".join(DOCUMENT_EXTENSIONS)
        raise UsageError(f"{name}: not a file that can be filled: give one of {known}")
    if len(content) > LONGEST_FILE:
        raise CorpusError(f"{name}: longer than {LONGEST_FILE} bytes: divide it")
    if most_texts is not None and sum(map(content.count, form.marks)) > MARKS_A_TEXT * most_texts:
        raise UsageError(f"{name}: more lines, elements or values than {most_texts} texts need: divide it")
    if most_texts is not None and form.counted:
        form.load("check_tags")(content, name, most_texts)
    document: Document = form.load("open_document")(content, name, target)
    if most_texts is not None and len(document.units) > most_texts:
        raise UsageError(f"{name}: {len(document.units)} texts, the limit is {most_texts}: divide it")
    return document


def suffix_of(name: str) -> str:
    """The extension of a file name, in lower case."""
    return PurePath(name).suffix.lower()


def check_names(sources: Sequence[Source]) -> None:
    """Raise UsageError if two files with groups have the same name: groups are named after files."""
    paths: dict[tuple[str, str | None], Path] = {}
    for source in sources:
        form = format_of(source)
        if form.grouped:
            name = source.path.name, source.language if form.keyed else None
            first = paths.setdefault(name, source.path)
            if first != source.path:
                cure = "rename one" if name[1] or not form.keyed else "give the language of each, LANG=FILE"
                raise UsageError(f"{first} and {source.path} have the same name: {cure}")
