"""Gettext PO and POT: a fuzzy translation has the flag `fuzzy` and the text it was made for (`#| msgid`)."""

from dataclasses import dataclass
from typing import Any, BinaryIO

from babel.messages.catalog import Message
from babel.messages.pofile import PoFileParser, write_po

from index.documents.document import check_target, with_edges
from index.formats.po import SOURCE_LANGUAGE, BoundedCatalog, parse_lines
from index.search.ranking import Match

LINE_WIDTH = 76  # of a line, as gettext wraps
LONGEST_WORD = 200  # characters between spaces; Babel's wrapping takes time quadratic in them


class _Catalog(BoundedCatalog):
    def __setitem__(self, key: Any, message: Message) -> None:  # noqa: ANN401 (a msgid, or several)
        if key and self.get(message.id, message.context) is not None:  # Babel would merge them, slowly
            raise ValueError("a msgid that stands there twice")
        super().__setitem__(key, message)


@dataclass
class Form:
    """A msgid, or one of the two of a plural entry, and the number of its msgstr."""

    message: Message
    text: str
    number: int | None = None
    has_codes: bool = False

    def fill(self, match: Match, *, fuzzy: bool) -> None:
        text = with_edges(self.text, match.text)
        if self.number is None:
            self.message.string = text
        else:
            forms = _strings(self.message)
            forms[self.number] = text
            self.message.string = tuple(forms)
        if fuzzy:
            self.message.flags.add("fuzzy")
            if match.original is not None:
                self.message.previous_id = [match.original.text]


class PoDocument:
    """A catalogue; entries with more than two plural forms are left to translators."""

    source: str | None = SOURCE_LANGUAGE
    marks_fuzzy = True

    def __init__(self, content: bytes, label: str, target: str) -> None:
        self._catalog = _Catalog()
        parser = PoFileParser(self._catalog, abort_invalid=True)
        parse_lines(label, parser, 0, content.splitlines(keepends=True))
        check_target(label, self._catalog.locale_identifier, target)
        if self._catalog.locale_identifier is None:
            self._catalog.locale = target.replace("-", "_")
            self._catalog.fuzzy = False  # the header of a template is
        messages = [message for message in self._catalog if message.id]
        empty = [message for message in messages if not any(_strings(message))]
        self.kept = len(messages) - len(empty)
        self.units = [form for message in empty for form in self._forms(message)]
        parts = (part for message in messages for part in (*_ids(message), *_strings(message)))
        longest = max(map(_longest_word, [content.decode(errors="replace"), *parts]))
        self._width = LINE_WIDTH if longest <= LONGEST_WORD else 0

    def write(self, file: BinaryIO) -> None:
        for message in self._catalog:
            strings = _strings(message)
            if message.pluralizable and any(strings) and not all(strings):
                message.flags.add("fuzzy")
        write_po(file, self._catalog, width=self._width, include_previous=True)

    def _forms(self, message: Message) -> list[Form]:
        if isinstance(message.id, str):
            return [Form(message, message.id)]
        count = self._catalog.num_plurals
        message.string = ("",) * count
        if count > 2:
            return []
        return [Form(message, text, number) for number, text in enumerate(message.id[-count:])]


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _ids(message: Message) -> list[str]:
    return [message.id] if isinstance(message.id, str) else list(message.id)


def _strings(message: Message) -> list[str]:
    return [message.string or ""] if isinstance(message.string, str) else [*(message.string or ())]
