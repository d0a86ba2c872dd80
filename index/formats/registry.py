"""Corpus formats by name and extension, and the files of a corpus: which languages, which sentences."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from index.errors import CorpusError, UsageError
from index.formats.bad_units import BadUnits
from index.formats.sentence import BadUnit, Sentence, UnitError
from index.formats.streams import READ_BYTES, open_stream, plain_suffixes, read_lines
from index.formats.txt import stem
from index.languages import TAGS_REMEMBERED, is_named, lookup

Reader = Callable[..., Iterator[Sentence | BadUnit]]  # of a path, a language and, for tables, columns

# name -> (module:function, extensions); modules are imported on use: some need lxml or Babel.
CORPUS_FORMATS = {
    "txt": ("txt:read", (".txt",)),
    "moses": ("txt:read_moses", ()),
    "tsv": ("tsv:read_tsv", (".tsv",)),
    "csv": ("tsv:read_csv", (".csv",)),
    "jsonl": ("jsonl:read", (".jsonl", ".ndjson")),
    "parquet": ("parquet:read", (".parquet",)),
    "tmx": ("tmx:read", (".tmx",)),
    "xliff": ("xliff:read", (".xlf", ".xliff")),
    "po": ("po:read", (".po", ".pot")),
    "cldr": ("cldr:read", ()),
}
FORMAT_OF_EXTENSION = {
    extension: name for name, (_, extensions) in CORPUS_FORMATS.items() for extension in extensions
}
TABLE_FORMATS = ("tsv", "csv", "jsonl", "parquet")
LINE_FORMATS = ("txt", "moses", "tsv", "csv", "jsonl")  # one sentence a line
XML_ROOTS = {"tmx": "tmx", "xliff": "xliff", "ldml": "cldr"}  # root element of .xml -> format


@dataclass(frozen=True)
class Source:
    """A corpus file: all its languages unless `language` is given; `format` None: by extension.

    `columns` of a table: (name, meaning) as in rows.py. Malformed units are added to `bad`; without it the
    first one is an error.
    """

    path: Path
    language: str | None = None
    format: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    bad: BadUnits | None = field(default=None, compare=False, repr=False)


def format_of(source: Source) -> str:
    """The format's name: as given, by extension, by root element (.xml), else txt; NAME.de is Moses."""
    if source.format is not None:
        return source.format
    last = next(reversed(plain_suffixes(source.path)), "")
    if last == ".xml":
        from index.formats.xml import root_name

        if (root := root_name(source.path)) not in XML_ROOTS:
            raise CorpusError(
                f"{source.path}: <{root}> is not a root element of TMX, XLIFF or CLDR: give --format"
            )
        return XML_ROOTS[root]
    if is_named(last[1:]) and last not in FORMAT_OF_EXTENSION:
        return "moses"
    return FORMAT_OF_EXTENSION.get(last, "txt")


def read(source: Source) -> Iterator[Sentence]:
    """Yield every sentence of a file, with the file's own language codes. Raises CorpusError."""
    form = format_of(source)
    try:
        module, _, name = CORPUS_FORMATS[form][0].partition(":")
        reader: Reader = getattr(import_module(f"index.formats.{module}"), name)
    except ModuleNotFoundError as error:
        raise CorpusError(
            f"{source.path}: {error.name} is not installed: pip install 'passepartout[formats]'"
        ) from error
    if source.columns and form not in TABLE_FORMATS:
        raise UsageError(f"{source.path}: {form} has no columns to map: leave --columns out")
    columns = (dict(source.columns),) if source.columns else ()
    for unit in reader(source.path, source.language, *columns):
        if isinstance(unit, Sentence):
            yield unit
        elif source.bad is None:
            raise UnitError(source.path, unit.line, unit.reason)
        else:
            source.bad.add(source.path, unit)


def read_language(source: Source, language: str, known: Collection[str]) -> Iterator[Sentence]:
    """Yield the sentences in `language`, one of those known; `en-US` counts as `en` if only `en` is known."""
    match = _matcher(known)
    for sentence in read(source):
        if match(sentence.language) == language:
            yield sentence if sentence.language == language else sentence._replace(language=language)


def count_languages(source: Source, known: Collection[str]) -> Counter[str | None]:
    """Count the sentences in each known language, and under None those in others. Reads the file once."""
    match = _matcher(known)
    return Counter(match(sentence.language) for sentence in read(source))


def _matcher(known: Collection[str]) -> Callable[[str], str | None]:
    """`lookup` with a bounded cache."""
    return lru_cache(TAGS_REMEMBERED)(lambda tag: lookup(tag, known))


def count_lines(source: Source) -> int:
    """Estimate the sentences of a file by its lines; 0 for formats without one sentence a line."""
    if format_of(source) not in LINE_FORMATS:
        return 0
    lines, last = 0, b"\n"
    with open_stream(source.path) as file:
        while block := file.read(READ_BYTES):
            lines, last = lines + block.count(b"\n"), block[-1:]
    return lines + (last != b"\n")


def check_names(sources: Sequence[Source]) -> None:
    """Raise UsageError if two files with groups have the same name: groups are named after files."""
    paths: dict[str, Path] = {}
    for source in sources:
        if format_of(source) not in ("txt", "moses", "cldr"):
            first = paths.setdefault(source.path.name, source.path)
            if first != source.path:
                raise UsageError(f"{first} and {source.path} have the same name: rename one")


def check_pairs(sources: Sequence[Source]) -> None:
    """Raise CorpusError if the files of a Moses pair differ in their number of lines. Reads them once."""
    counts: dict[str, tuple[Path, int]] = {}
    for source in sources:
        if format_of(source) == "moses":
            lines = sum(1 for _ in read_lines(source.path))
            first, wanted = counts.setdefault(stem(source.path), (source.path, lines))
            if lines != wanted:
                raise CorpusError(
                    f"{source.path}: {lines} lines, but {first} has {wanted}: line i must translate line i"
                )
