"""Plain text, one sentence a line, and Moses files, NAME.LANG or LANG.txt, whose lines are aligned."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from index.errors import CorpusError
from index.formats.document import Document, Edit, Filling, Unit, decoded
from index.formats.sentence import BadUnit, RecordNumber, Sentence
from index.formats.streams import plain_suffixes, read_good_lines
from index.text.normalisation import clean

FIRST_LINES = 3  # that tell what is no text
NO_SENTENCES = re.compile(
    r"(?P<xml>^<(?:\?xml|!DOCTYPE)\b)|(?P<time>\d\d[.,]\d{3}[ \t]+-->)"
    r"|(?P<binary>^PK\x03\x04|^%PDF-|\x00)"
)
HINTS = {
    "xml": "markup, not sentences: give --format, or convert it to XLIFF (Qt's .ts with lconvert)",
    "time": "time codes, not sentences: give --format subtitles",
    "binary": "not text: save it as text, or give --format",
}


def read(path: Path, language: str | None, encoding: str | None = None) -> Iterator[Sentence | BadUnit]:
    """Yield one sentence a line, in `language`. CorpusError if it is None."""
    if language is None:
        raise CorpusError(f"{path}: plain text does not say its language: give it as --corpus LANG={path}")
    for number, line in read_good_lines(path, encoding):
        if isinstance(line, BadUnit):
            yield line
        else:
            if number <= FIRST_LINES and (found := NO_SENTENCES.search(line)):
                raise CorpusError(f"{path}, line {number}: {HINTS[found.lastgroup or '']}")
            yield Sentence(RecordNumber(number), line.rstrip("\r\n"), language, number)


def read_moses(path: Path, language: str | None, encoding: str | None = None) -> Iterator[Sentence | BadUnit]:
    """Yield the lines of NAME.LANG; line i translates line i of every other file named NAME.

    A file named LANG.txt is aligned with the others of its folder.
    """
    if language is None and (suffixes := plain_suffixes(path)):
        language = path.name[len(stem(path)) + 1 :][: len(suffixes[-1]) - 1]
    name = aligned_name(path)
    for sentence in read(path, language, encoding):
        if isinstance(sentence, Sentence):
            sentence = sentence._replace(group=f"{name}#{sentence.line}")
        yield sentence


def aligned_name(path: Path) -> str:
    """What a Moses file shares with those that it is aligned with: NAME, or its folder."""
    return path.resolve().parent.name if plain_suffixes(path)[-1:] == [".txt"] else stem(path)


def stem(path: Path) -> str:
    """The name of a file without its language and compression: europarl.de-en.de.gz -> europarl.de-en."""
    suffixes = "".join(plain_suffixes(path)[-1:])
    return path.name[: path.name.lower().rindex(suffixes)] if suffixes else path.name


def open_document(content: bytes, label: str, target: str) -> Document:
    """Read a file to be filled: the translation of a line takes its place. Raises CorpusError."""
    text, charset = decoded(label, content)
    lines = (line for line in re.finditer(r"[^\r\n]+", text) if line[0].strip())
    return Document(text, charset, units=[Unit(line[0], partial(_filled, *line.span())) for line in lines])


def _filled(begin: int, end: int, filling: Filling) -> Iterator[Edit]:
    yield Edit(begin, end, clean(filling.text) if "\n" in filling.text else filling.text)
