"""HTML: the sentences of a page, with the tags around them; <script>, <code> and translate="no" stay."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from index.errors import CorpusError, UsageError
from index.formats.document import Charset, Document, Edit, Filling, Unit, decoded
from index.formats.sentence import BadUnit, RecordNumber, Sentence
from index.formats.streams import READ_BYTES, read_whole
from index.text.segments import MARKUP, Segment, as_translation, parts_of, segments, sentence_of

LONGEST_PAGE = 16 << 20  # bytes
PARTS_A_TEXT = 12  # sentences, and what is between them: more than ordinary pages have
_CHARSET = re.compile(rb"""<meta[^<>]+charset\s*=\s*["']?([A-Za-z0-9._-]{1,40})""", re.IGNORECASE)
_LANGUAGE = re.compile(r"""<html\b[^<>]*?\slang\s*=\s*["']?([A-Za-z0-9-]{2,35})""", re.IGNORECASE)


def read(path: Path, language: str | None) -> Iterator[Sentence | BadUnit]:
    """Yield the sentences of a page in `language`, or that of its `lang`. Raises CorpusError."""
    text, _ = _page(str(path), read_whole(path, LONGEST_PAGE))
    code = language or _language(text)
    if code is None:
        raise CorpusError(f"{path}: it does not say its language: give it as --corpus LANG={path}")
    line, last = 1, 0
    for number, (place, segment) in enumerate(_sentences(text, code), start=1):
        line, last = line + text.count("\n", last, place), place
        yield Sentence(RecordNumber(number), sentence_of(segment, markup=True), code, line)


def open_document(content: bytes, label: str, target: str) -> Document:
    """Read a page to be filled: each translation takes the place of its sentence. Raises CorpusError."""
    text, charset = _page(label, content)
    document = Document(text, charset, _language(text))
    for place, segment in _sentences(text, document.source or "en"):
        edit = partial(_filled, place, segment.text)
        adapt = partial(_adapted, segment)
        document.units.append(Unit(sentence_of(segment, markup=True), edit, adapt=adapt))
    if stated := _LANGUAGE.search(text):
        document.head.append(Edit(*stated.span(1), target))
    return document


def check_tags(content: bytes, label: str, most_texts: int) -> None:
    """Raise UsageError for a page of far more parts than texts: all are held in memory."""
    text, _ = _page(label, content)
    parts = parts_of(text, _language(text) or "en", markup=True)
    if next(islice(parts, PARTS_A_TEXT * most_texts, None), None) is not None:
        raise UsageError(f"{label}: more sentences than {most_texts} texts need: divide it")


def _page(label: str, content: bytes) -> tuple[str, Charset]:
    stated = _CHARSET.search(content[:READ_BYTES])
    return decoded(label, content, stated[1].decode() if stated else "utf-8")


def _language(text: str) -> str | None:
    stated = _LANGUAGE.search(text)
    return stated[1] if stated else None


def _sentences(text: str, language: str) -> Iterator[tuple[int, Segment]]:
    """Yield the sentences with the places where they begin."""
    place = 0
    for segment in segments(text, language, markup=True):
        if not segment.between:
            yield place, segment
        place += len(segment.text)


def _adapted(segment: Segment, filling: Filling) -> Filling | None:
    """The translation as HTML with the tags of the sentence, which is then fuzzy; None if it has others."""
    text = as_translation(segment, filling.text.strip(), filling.original, markup=True)
    fuzzy = filling.fuzzy or MARKUP.search(segment.text) is not None
    return None if text is None else filling._replace(text=text, fuzzy=fuzzy)


def _filled(begin: int, sentence: str, filling: Filling) -> Iterator[Edit]:
    yield Edit(begin, begin + len(sentence), filling.text)
