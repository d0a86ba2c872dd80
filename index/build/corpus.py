"""Reads the corpus of a language: its files, the ids and metadata of its sentences."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from index.build.cleaning import Cleaner, Cleaning
from index.build.duplicates import FirstRows, key_of
from index.errors import CorpusError, UnknownLanguageError, UsageError, listed
from index.formats.registry import (
    Source,
    check_names,
    check_pairs,
    count_languages,
    count_lines,
    format_of,
    read_language,
)
from index.formats.sentence import Sentence, UnitError
from index.languages import lookup

EXISTING_ID, NEW_ID = 0, 1  # whether the index or a new file has a sentence with an id


@dataclass(frozen=True)
class CorpusReader:
    """Reads the corpus files of one language, and names its sentences.

    Ids are LANG:ID, or LANG:FILE:ID if `by_file`; ID is the file's own, else the number of the line or
    record. `strict`: an id that exists already is refused; otherwise its line number is appended.
    """

    language: str
    sources: Sequence[Source]
    known: Collection[str]
    expected: int = 0  # sentences, estimated
    by_file: bool = False
    strict: bool = False

    def sentences(self) -> Iterator[tuple[str, Sentence]]:
        """Yield (file name, sentence) in the order of the files. Raises CorpusError."""
        for source in self.sources:
            for sentence in read_language(source, self.language, self.known):
                yield source.path.name, sentence

    def id_of(self, file: str, sentence: Sentence) -> str:
        """The id of a sentence, which another sentence may also have; see Ids."""
        return f"{self.language}:{file}:{sentence.id}" if self.by_file else f"{self.language}:{sentence.id}"

    @property
    def ids_are_lines(self) -> bool:
        """Whether every id is a line number, and therefore unique."""
        names = {source.path.name for source in self.sources}
        plain = all(format_of(source) in ("txt", "moses") for source in self.sources)
        return plain and len(names) == len(self.sources) and (self.by_file or len(names) == 1)


class Ids:
    """Gives the sentences of a language unique ids."""

    def __init__(self, reader: CorpusReader) -> None:
        self._reader = reader
        self._taken = None if reader.ids_are_lines and not reader.strict else FirstRows()

    def __enter__(self) -> "Ids":
        return self

    def __exit__(self, *_: object) -> None:
        if self._taken:
            self._taken.close()

    def reserve(self, ids: Sequence[str]) -> None:
        """Mark ids as existing."""
        if self._taken and self._reader.sources:
            keys = list(map(key_of, ids))
            self._taken.expect(keys)
            for key in keys:
                self._taken.first(key, EXISTING_ID)

    def take(self, files: Sequence[str], sentences: Sequence[Sentence]) -> list[str]:
        """The ids of the next sentences. Raises CorpusError if one exists already and ids are strict."""
        ids = list(map(self._reader.id_of, files, sentences))
        if self._taken is None:
            return ids
        self._taken.expect(list(map(key_of, ids)))
        return [self._take(self._taken, *row) for row in zip(ids, files, sentences, strict=True)]

    def _take(self, taken: FirstRows, given: str, file: str, sentence: Sentence) -> str:
        unique = given
        while (holder := taken.first(key_of(unique), NEW_ID)) is not None:
            if self._reader.strict and (holder == EXISTING_ID or not self._reader.by_file):
                raise CorpusError(
                    f"{file}, line {sentence.line}: there is a sentence {given}: use `index replace`"
                )
            unique = f"{given}#{sentence.line}" if unique == given else unique + "'"
            taken.expect([key_of(unique)])
        return unique


def metadata_of(file: str, sentence: Sentence) -> str:
    """The metadata of a sentence and the name of its file, as JSON."""
    if not sentence.metadata:
        return _file_metadata(file)
    return json.dumps({"file": file, **sentence.metadata}, ensure_ascii=False)


@cache
def _file_metadata(file: str) -> str:
    return json.dumps({"file": file}, ensure_ascii=False)


def kept_texts(
    language: str, sources: Sequence[Source], known: Collection[str], cleaning: Cleaning
) -> Iterator[str]:
    """Yield the texts of a language's files that cleaning keeps. Raises CorpusError."""
    with Cleaner(cleaning) as cleaner:
        for _, sentence in cleaner.sentences(CorpusReader(language, sources, known).sentences()):
            yield sentence.text


def sources_of(corpora: Mapping[str, Path] | Sequence[Source]) -> list[Source]:
    """Convert {language: file} to a list of Source; a list of sources is copied."""
    if isinstance(corpora, Mapping):
        return [Source(path, code) for code, path in corpora.items()]
    return list(corpora)


def by_language(
    sources: Sequence[Source], known: Collection[str], model: str
) -> tuple[dict[str, list[Source]], dict[str, int], dict[str, int]]:
    """Group files by language.

    -> {language: files}, {file: sentences in unknown languages}, {language: sentences, estimated}. Raises
    UnknownLanguageError for a source's language that is not in `known`, UsageError without a source or with
    one given twice, CorpusError for a file that cannot be read.
    """
    if not sources:
        raise UsageError("no corpus: give at least one, such as --corpus en=sentences.en.txt")
    sources = [replace(source, language=_known(source, known, model)) for source in sources]
    check_names(sources)
    check_pairs(sources)
    files: dict[str, list[Source]] = {}
    skipped: dict[str, int] = {}
    expected: Counter[str] = Counter()
    for source in sources:
        estimate = Counter({source.language: count_lines(source) if source.language else 0})
        counts = estimate if source.language else count_languages(source, known)
        if unknown := counts.pop(None, 0):
            skipped[source.path.name] = unknown
        if not counts:
            if source.bad and (unit := source.bad.first_of(source.path)):
                raise UnitError(source.path, unit.line, unit.reason)
            raise CorpusError(f"{source.path}: nothing in a language that {model} knows: {listed(known)}")
        for code, count in counts.items():
            _add(files.setdefault(code or "", []), source)
            expected[code or ""] += count
    return files, skipped, dict(expected)


def _known(source: Source, known: Collection[str], model: str) -> str | None:
    code = source.language and lookup(source.language, known)
    if source.language is not None and code is None:
        raise UnknownLanguageError(f"{model} does not know {source.language!r}; it knows: {listed(known)}")
    return code


def _add(sources: list[Source], source: Source) -> None:
    if any(other.path == source.path for other in sources):
        raise UsageError(f"--corpus {source.path} is given twice for a language: give it once")
    sources.append(source)
