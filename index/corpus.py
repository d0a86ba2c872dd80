"""The corpus of a language: its files read, cleaned, with ids and what the files say of them."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from index.cleaning import Cleaned, Cleaner, Cleaning, Judge
from index.corpora.formats import Source, check_names, check_pairs, count_languages, read_language
from index.corpora.sentence import Sentence
from index.errors import CorpusError, UnknownLanguageError, UsageError


@dataclass
class Corpus:
    """A language's sentences in the order of their files. `metadata`: JSON, with `file`.

    `ids` are LANG:ID, or LANG:FILE:ID where a language has several files; ID is that of the file, else the
    number of the line or record, and gets its line where the file gives it twice.
    """

    ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    metadata: list[str] = field(default_factory=list)
    cleaned: Cleaned = field(default_factory=Cleaned)


def read_corpus(
    language: str,
    sources: Sequence[Source],
    known: Collection[str],
    cleaning: Cleaning,
    judge: Judge | None = None,
    record: TextIO | None = None,
) -> Corpus:
    """Read and clean all of a language; what is dropped goes to `record`. Raises CorpusError."""
    cleaner = Cleaner(cleaning, judge, record)
    corpus = Corpus(cleaned=cleaner.done)
    taken: set[str] = set()
    for file, sentence in cleaner.sentences(_sentences(language, sources, known)):
        name = f"{language}:{file}:{sentence.id}" if len(sources) > 1 else f"{language}:{sentence.id}"
        own = name if name not in taken else f"{name}#{sentence.line}"
        while own in taken:
            own += "'"
        taken.add(own)
        corpus.ids.append(own)
        corpus.texts.append(sentence.text)
        corpus.metadata.append(json.dumps({"file": file, **sentence.metadata}, ensure_ascii=False))
    if not corpus.texts:
        files = ", ".join(str(source.path) for source in sources)
        raise CorpusError(f"{files}: no sentence of {language} in it{_why(corpus.cleaned)}")
    return corpus


def _sentences(
    language: str, sources: Sequence[Source], known: Collection[str]
) -> Iterator[tuple[str, Sentence]]:
    for source in sources:
        for sentence in read_language(source, language, known):
            yield source.path.name, sentence


def _why(cleaned: Cleaned) -> str:
    counts = ", ".join(f"{count} {reason}" for reason, count in cleaned.dropped.items())
    return f" that is kept ({counts}): see --keep" if counts else ": give a file with one sentence a line"


def sources_of(corpora: Mapping[str, Path] | Sequence[Source]) -> list[Source]:
    """Files by language, or sources, as sources."""
    if isinstance(corpora, Mapping):
        return [Source(path, code) for code, path in corpora.items()]
    return list(corpora)


def by_language(
    sources: Sequence[Source], known: Collection[str], model: str
) -> tuple[dict[str, list[Source]], dict[str, int]]:
    """The files of each language; and how many sentences of a file are in languages that are not known.

    Raises UnknownLanguageError for a language asked for that is not known, UsageError without any source or
    with one twice, CorpusError for a file that cannot be read.
    """
    if not sources:
        raise UsageError("no corpus: give at least one, such as --corpus en=sentences.en.txt")
    for source in sources:
        if source.language is not None and source.language not in known:
            raise UnknownLanguageError(
                f"{model} does not know {source.language!r}; it knows: {', '.join(known)}"
            )
    check_names(sources)
    check_pairs(sources)
    found: dict[str, list[Source]] = {}
    skipped: dict[str, int] = {}
    for source in sources:
        given: Counter[str | None] = Counter({source.language: 0})
        counts = given if source.language else count_languages(source, known)
        if unknown := counts.pop(None, 0):
            skipped[source.path.name] = unknown
        if not counts:
            raise CorpusError(f"{source.path}: nothing in a language that {model} knows: {', '.join(known)}")
        for code in counts:
            _add(found.setdefault(code or "", []), source)
    return found, skipped


def _add(sources: list[Source], source: Source) -> None:
    if any(other.path == source.path for other in sources):
        raise UsageError(f"--corpus {source.path} is given twice for a language: give it once")
    sources.append(source)
