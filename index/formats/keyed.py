"""Keyed: files with the texts of one language by key, which translate those of others with the same name.

A format says where its strings stand and how one is written; reading and filling are the same for all.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from index.errors import CorpusError
from index.formats.document import Charset, Document, Edit, Filling, Unit, decoded
from index.formats.sentence import LONGEST_ID, BadUnit, Sentence, as_written
from index.formats.streams import read_whole
from index.languages import standard_code


class String(NamedTuple):
    """A text, its key, and where it stands in the file; `message`: the key of all branches of its message."""

    key: str
    text: str
    begin: int
    end: int
    message: str | None = None


class Contents(NamedTuple):
    """A file's text, its strings, its language if it says so, and where that is changed."""

    text: str
    charset: Charset
    strings: Iterable[String]
    language: str | None = None
    head: Callable[[str], Iterable[Edit]] = lambda target: ()


@dataclass(frozen=True)
class Keyed:
    """A format: `parse(label, content)` gives what a file contains, `written` a text as it stands there;
    `wraps` as in Unit."""

    parse: Callable[[str, bytes], Contents]
    written: Callable[[str, Charset, str], str]
    wraps: bool = False

    def read(self, path: Path, language: str | None, encoding: str = "utf-8") -> Iterator[Sentence | BadUnit]:
        """Yield every string in `language`, or that of the file. Raises CorpusError."""
        content = read_whole(path)
        if encoding != "utf-8":
            content = decoded(str(path), content, encoding)[0].encode()
        found = self.parse(str(path), content)
        code = language or found.language
        if code is None:
            raise CorpusError(f"{path}: it does not say its language: give it as --corpus LANG={path}")
        family, line, place = family_of(path, code), 1, 0
        for number, string in enumerate(found.strings, start=1):
            line, place = line + found.text.count("\n", place, string.begin), string.begin
            written, group = as_written("", string.text), f"{family}#{string.key}"
            name = string.key if len(string.key) <= LONGEST_ID else str(number)  # it may be the text
            yield Sentence(name, string.text, code, line, written, group, is_string=True)

    def open_document(self, content: bytes, label: str, target: str) -> Document:
        """Read a file to be filled: each translation takes the place of its text. Raises CorpusError."""
        found = self.parse(label, content)
        document = Document(found.text, found.charset, found.language)
        for string in found.strings:
            if string.text.strip():
                filled = partial(self._filled, document, string)
                document.units.append(Unit(string.text, filled, message=string.message, wraps=self.wraps))
        document.head += found.head(target)
        return document

    def _filled(self, document: Document, string: String, filling: Filling) -> Iterator[Edit]:
        before = document.text[string.begin : string.end]
        yield Edit(string.begin, string.end, self.written(filling.text, document.charset, before))


def family_of(path: Path, language: str) -> str:
    """The name of a file without the code of its language: app_de.properties -> app.properties."""
    parts = re.split(r"([._-])", path.name)
    for begin in range(0, len(parts), 2):
        for end in range(min(len(parts), begin + 5), begin, -2):
            if standard_code("".join(parts[begin:end])) == standard_code(language):
                return "".join(parts[:begin] + parts[end + 1 :]).strip("._-")
    return path.name
