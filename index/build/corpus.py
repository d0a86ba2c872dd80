"""Corpus: the files of a build, each read once; the ids and metadata of their sentences."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain, islice
from pathlib import Path

from index.build.duplicates import FirstRows, key_of
from index.errors import CorpusError, UnknownLanguageError, UsageError, listed
from index.formats.registry import Source, check_names, format_of, read
from index.formats.sentence import Sentence, UnitError
from index.formats.streams import open_stream, plain_suffixes
from index.formats.txt import aligned_name
from index.languages import TAGS_REMEMBERED, is_named, lookup, standard_code

EXISTING_ID, NEW_ID = 0, 1  # whether the index or a new file has a sentence with an id


class Corpus:
    """The files of some sources, read once.

    `known`: the languages of `model`. Any other that a file aligns with these is read as a target; what has
    no language of which we know a name is `skipped`. Raises UnknownLanguageError for another source's
    language, UsageError without a source or with one given twice, CorpusError for a file that cannot be
    opened.
    """

    def __init__(self, sources: Sequence[Source], known: Collection[str], model: str) -> None:
        self.sources = sources = [_checked(source, known, model) for source in sources]
        self._known, self._model = known, model
        self.skipped: Counter[str] = Counter()
        self.lines: dict[Path, int] = {}  # of each file, once it is read
        self._begun: Iterator[tuple[str, Sentence]] | None = None
        self.size = sum(source.path.stat().st_size for source in sources)
        check_names(sources)
        self._languages = [self._language(source) for source in sources]
        given = Counter(zip((source.path for source in sources), self._languages, strict=True))
        if twice := [path for (path, _), times in given.items() if times > 1]:
            raise UsageError(f"--corpus {twice[0]} is given twice for a language: give it once")

    def sentences(self) -> Iterator[tuple[str, Sentence]]:
        """Yield (file name, sentence), its language a known code. Raises CorpusError."""
        return self._begun or self._sentences()

    def _sentences(self) -> Iterator[tuple[str, Sentence]]:
        pairs: dict[str, Path] = {}
        for source in self.sources:
            yield from self._read(source)
            if format_of(source).by_line:
                first = pairs.setdefault(aligned_name(source.path), source.path)
                if (lines := self.lines[source.path]) != self.lines[first]:
                    raise CorpusError(
                        f"{source.path}: {lines} lines, but {first} has {self.lines[first]}: "
                        "line i must translate line i"
                    )

    def first(self, most: int) -> list[tuple[str, Sentence]]:
        """The first sentences, which `sentences` yields all the same; all of them if they are fewer."""
        rest = self.sentences()
        begun = list(islice(rest, most))
        self._begun = chain(begun, rest)
        return begun

    def may_have(self, code: str) -> list[Source]:
        """The files that may have sentences in a language."""
        return [
            source
            for source, given in zip(self.sources, self._languages, strict=True)
            if given in (code, None)
        ]

    def _language(self, source: Source) -> str | None:
        """The language of every sentence of a file; None if each says its own."""
        if source.language is None and format_of(source).by_line:
            return _code(plain_suffixes(source.path)[-1][1:], self._known)
        return None if format_of(source).bilingual else source.language

    def _read(self, source: Source) -> Iterator[tuple[str, Sentence]]:
        codes = lru_cache(TAGS_REMEMBERED)(lambda tag: _code(tag, self._known))
        wanted = None if format_of(source).bilingual else source.language
        name, found, line = source.path.name, 0, 0
        before = _state(source.path)
        for sentence in read(source):
            line = sentence.line
            if sentence.language != wanted:
                code = codes(sentence.language)
                if code is None and wanted is None:
                    self.skipped[name] += 1
                if code is None or wanted not in (code, None):
                    continue
                sentence = sentence._replace(language=code)
            found += sentence.language in self._known
            yield name, sentence
        if _state(source.path) != before:
            raise CorpusError(f"{source.path}: it was changed while it was read: repeat the command")
        self.lines[source.path] = line
        if not found and wanted is None:
            if source.bad and (unit := source.bad.first_of(source.path)):
                raise UnitError(source.path, unit.line, unit.reason)
            known = f"nothing in a language that {self._model} knows: {listed(self._known)}"
            raise CorpusError(f"{source.path}: {known if line else 'empty: give a file with sentences'}")


def _checked(source: Source, known: Collection[str], model: str) -> Source:
    """The source with its language as it is known, and a file that can be opened."""
    code = source.language and _code(source.language, known)
    aligns = format_of(source).bilingual or format_of(source).by_line
    if source.language is not None and (code is None or not (aligns or code in known)):
        raise UnknownLanguageError(f"{model} does not know {source.language!r}; it knows: {listed(known)}")
    with open_stream(source.path):
        return replace(source, language=code)


def _state(path: Path) -> tuple[int, ...]:
    """What changes with a file; its change time cannot be set back."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _code(tag: str, known: Collection[str]) -> str | None:
    """The code of a language that is known, or else has a name or one of the codes for languages without."""
    return lookup(tag, known) or (standard_code(tag) if is_named(tag) else None)


class Ids:
    """Gives the sentences of a language unique ids: LANG:ID, or LANG:FILE:ID if `by_file`.

    ID is the file's own, else the number of the line or record. `strict`: an id that exists already is
    refused; otherwise its line number is appended.
    """

    def __init__(self, code: str, sources: Sequence[Source], *, by_file: bool, strict: bool = False) -> None:
        self._code, self._by_file, self._strict = code, by_file, strict
        plain = all(format_of(source).plain for source in sources)  # whose ids are line numbers
        names = {source.path.name for source in sources}
        unique = plain and len(names) == len(sources) and (by_file or len(names) == 1)
        self._taken = None if unique and not strict else FirstRows()

    def close(self) -> None:
        """Forget the ids."""
        if self._taken:
            self._taken.close()

    def reserve(self, ids: Sequence[str]) -> None:
        """Mark ids as existing."""
        if self._taken:
            keys = list(map(key_of, ids))
            self._taken.expect(keys)
            for key in keys:
                self._taken.first(key, EXISTING_ID)

    def of(self, files: Sequence[str], sentences: Sequence[Sentence]) -> list[str]:
        """The ids of sentences, which others may also have."""
        code = self._code
        if self._by_file:
            return [f"{code}:{file}:{row.id}" for file, row in zip(files, sentences, strict=True)]
        return [f"{code}:{sentence.id}" for sentence in sentences]

    def take(self, files: Sequence[str], sentences: Sequence[Sentence]) -> list[str]:
        """The ids of the next sentences. Raises CorpusError if one exists already and ids are strict."""
        ids = self.of(files, sentences)
        if self._taken is None:
            return ids
        self._taken.expect(list(map(key_of, ids)))
        return [self._take(self._taken, *row) for row in zip(ids, files, sentences, strict=True)]

    def _take(self, taken: FirstRows, given: str, file: str, sentence: Sentence) -> str:
        unique = given
        while (holder := taken.first(key_of(unique), NEW_ID)) is not None:
            if self._strict and (holder == EXISTING_ID or not self._by_file):
                raise CorpusError(
                    f"{file}, line {sentence.line}: there is a sentence {given}: use `index replace`"
                )
            unique = f"{given}#{sentence.line}" if unique == given else unique + "'"
            taken.expect([key_of(unique)])
        return unique


def columns_of(ids: Ids, files: Sequence[str], sentences: Sequence[Sentence]) -> dict[str, list[str]]:
    """The columns of LANG.arrow for the next sentences. Raises what `Ids.take` does."""
    texts, metadata = [sentence.text for sentence in sentences], list(map(metadata_of, files, sentences))
    return {"id": ids.take(files, sentences), "text": texts, "metadata": metadata}


def metadata_of(file: str, sentence: Sentence) -> str:
    """The metadata of a sentence and the name of its file, as JSON; its own `file` is its `original_file`."""
    if not sentence.metadata:
        return _file_metadata(file)
    own = {"original_file" if name == "file" else name: value for name, value in sentence.metadata.items()}
    return json.dumps({"file": file, **own}, ensure_ascii=False)


@cache
def _file_metadata(file: str) -> str:
    return json.dumps({"file": file}, ensure_ascii=False)
