"""Gettext PO, parsed by Babel: msgid is English (gettext's convention), msgstr the header's Language."""

import codecs
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import PoFileError, PoFileParser

from index.errors import CorpusError
from index.formats.sentence import BadUnit, Sentence, UnitError, local_group
from index.formats.streams import LONGEST_LINE, READ_BYTES, open_stream

LONGEST_ENTRY = 4 << 20  # bytes
LONGEST_HEADER = 16 << 10  # characters: Python parses headers in quadratic time
MOST_PLURALS = 16  # forms; Arabic has 6
QUADRATIC_CODECS = frozenset({"idna", "punycode"})  # codecs for host names, which take quadratic time
# How an entry begins; the previous one is then complete.
ENTRY_BEGINNINGS = (b"msgid ", b"msgctxt", b"#~ msgid ", b"#~ msgctxt")
SOURCE_LANGUAGE = "en"


def read(path: Path, language: str | None) -> Iterator[Sentence | BadUnit]:
    """Yield msgid and msgstr of every entry; the plural pairs with the last msgstr. Raises CorpusError."""
    catalog = _Latest()
    parser = PoFileParser(catalog, ignore_obsolete=True, abort_invalid=True)
    number = 0
    for before, lines in _blocks(path):
        bad = _parse_block(path, catalog, parser, before, lines)
        yield from bad
        code = catalog.locale_identifier or (language if language != SOURCE_LANGUAGE else None)
        for message in catalog.taken():
            if code is None:
                raise CorpusError(
                    f"{path}: its header has no `Language:`: add it, or give --corpus LANG={path}"
                )
            number += 1
            for form, (source, target) in enumerate(_forms(message)):
                name = str(number) if form == 0 else f"{number}.plural"
                group, metadata, line = local_group(path, name), _metadata(message), message.lineno or 0
                yield Sentence(name, source, SOURCE_LANGUAGE, before + line, metadata, group)
                yield Sentence(
                    name, target, code, before + line, metadata, group, confirmed=not message.fuzzy
                )


def _parse_block(
    path: Path, catalog: "_Latest", parser: PoFileParser, before: int, lines: list[bytes]
) -> list[BadUnit]:
    """Parse a block of entries; if that fails, parse each entry by itself and return the bad ones."""
    try:
        parse_lines(path, parser, before, lines)
        return []
    except UnitError:
        catalog.taken()
    bad = []
    for begin, entry in _entries(before, lines):
        try:
            parser = PoFileParser(catalog, ignore_obsolete=True, abort_invalid=True)
            parse_lines(path, parser, begin, entry)
        except UnitError as error:
            bad.append(error.unit)
    return bad


def _entries(before: int, lines: list[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the entries, which blank lines separate, each with the number of lines before it."""
    entry: list[bytes] = []
    for number, line in enumerate([*lines, b""], start=before):
        if line.strip():
            entry.append(line)
        elif entry:
            yield number - len(entry), entry
            entry = []


class HeaderError(Exception):
    """An unreasonable header. Not a ValueError, which Babel would treat as a bad entry."""


class BoundedCatalog(Catalog):
    """A catalogue with a bounded header. Raises HeaderError for one that would take long to parse."""

    def __init__(self) -> None:
        super().__init__()
        self._header_length = 0

    def __setitem__(self, key: Any, message: Message) -> None:  # noqa: ANN401 (a msgid, or several)
        if key:
            super().__setitem__(key, message)
            return
        self._header_length += len(str(message.string))
        if self._header_length > LONGEST_HEADER:
            raise HeaderError(f"a header longer than {LONGEST_HEADER} characters")
        super().__setitem__(key, message)
        if self.num_plurals > MOST_PLURALS:
            raise HeaderError(f"nplurals={self.num_plurals}")
        if codecs.lookup(self.charset).name in QUADRATIC_CODECS:
            raise HeaderError(f"charset={self.charset}")


class _Latest(BoundedCatalog):
    """A catalogue that keeps only the latest entries and the header.

    Babel's keeps all entries, and merges those with the same msgid in quadratic time.
    """

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[Message] = []

    def __setitem__(self, key: Any, message: Message) -> None:  # noqa: ANN401 (a msgid, or several)
        if key:
            self._entries.append(message)
        else:
            super().__setitem__(key, message)

    def taken(self) -> list[Message]:
        """The entries since the last call."""
        entries, self._entries = self._entries, []
        return entries


def _forms(message: Message) -> list[tuple[str, str]]:
    if isinstance(message.id, str):
        return [(message.id, str(message.string or ""))]
    targets = [text or "" for text in message.string or ("",)]
    return [(message.id[0], targets[0]), (message.id[-1], targets[-1])]


def _metadata(message: Message) -> dict[str, Any]:
    comments = [*message.auto_comments, *message.user_comments]
    values = {
        "context": message.context,
        "references": [f"{name}:{line}" if line else name for name, line in message.locations],
        "comment": " ".join(comments),
    }
    return {name: value for name, value in values.items() if value}


def _blocks(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """Yield blocks of complete entries as lines, with the number of lines before. Raises CorpusError."""
    block: list[bytes] = []
    before = size = 0
    with open_stream(path) as file:
        for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b"")):
            if size > READ_BYTES and _begins_entry(line):
                yield before, block
                block, before, size = [], number, 0
            block.append(line)
            size += len(line)
            if size > LONGEST_ENTRY:
                raise CorpusError(f"{path}, line {number + 1}: an entry longer than {LONGEST_ENTRY} bytes")
    yield before, block


def _begins_entry(line: bytes) -> bool:
    return line.startswith(ENTRY_BEGINNINGS) or (line.startswith(b"#") and not line.startswith(b"#~"))


def _check_line(path: Path | str, number: int, line: bytes) -> None:
    if len(line) > LONGEST_LINE:
        raise UnitError(path, number, f"longer than {LONGEST_LINE} bytes: divide it")
    # Babel drops the last character of an unterminated string.
    line = line.strip()
    if line and not line.startswith(b"#") and not line.endswith(b'"'):
        raise UnitError(path, number, "not PO (a string that does not end): correct it")


def parse_lines(path: Path | str, parser: PoFileParser, before: int, lines: list[bytes]) -> None:
    """Parse lines that follow `before` others of a file. Raises UnitError, CorpusError."""
    for number, line in enumerate(lines, start=before + 1):
        _check_line(path, number, line)
    try:
        parser.parse(lines)
    except PoFileError as error:
        reason = str(error).rpartition(" on ")[0]
        raise UnitError(path, before + error.lineno + 1, f"not PO ({reason}): correct it") from error
    except (HeaderError, ValueError, LookupError, TypeError, SyntaxError) as error:
        raise CorpusError(f"{path}: not PO ({error}): check it with `msgfmt --check`") from error
