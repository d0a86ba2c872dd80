"""Gettext PO, parsed by Babel: msgid is English (gettext's convention), msgstr the header's Language."""

import codecs
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import PoFileError, PoFileParser

from index.errors import CorpusError
from index.formats.sentence import Sentence, local_group
from index.formats.streams import BLOCK, LONGEST_LINE, open_stream

LONGEST_ENTRY = 4 << 20  # bytes
LONGEST_HEADER = 16 << 10  # characters: Python parses headers in quadratic time
MOST_PLURALS = 16  # forms; Arabic has 6
QUADRATIC = frozenset({"idna", "punycode"})  # codecs for names of machines
# What begins an entry, after which the one before is complete.
BEGINNINGS = (b"msgid ", b"msgctxt", b"#~ msgid ", b"#~ msgctxt")
SOURCE_LANGUAGE = "en"


def read(path: Path, language: str | None) -> Iterator[Sentence]:
    """Yield msgid and msgstr of every entry; the plural pairs with the last msgstr. Raises CorpusError."""
    catalog = _Latest()
    parser = PoFileParser(catalog, ignore_obsolete=True, abort_invalid=True)
    number = 0
    for before, lines in _blocks(path):
        parse_lines(path, parser, before, lines)
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


class BoundedCatalog(Catalog):
    """A catalogue whose header costs little. Raises ValueError for another."""

    def __init__(self) -> None:
        super().__init__()
        self._header_length = 0

    def __setitem__(self, key: Any, message: Message) -> None:  # noqa: ANN401 (a msgid, or several)
        if key:
            super().__setitem__(key, message)
            return
        self._header_length += len(str(message.string))
        if self._header_length > LONGEST_HEADER:
            raise ValueError(f"a header longer than {LONGEST_HEADER} characters")
        super().__setitem__(key, message)
        if self.num_plurals > MOST_PLURALS:
            raise ValueError(f"nplurals={self.num_plurals}")
        if codecs.lookup(self.charset).name in QUADRATIC:
            raise ValueError(f"charset={self.charset}")


class _Latest(BoundedCatalog):
    """The entries that were parsed last; of those before only the header is kept.

    Babel's own would keep all, and merge those of one msgid in time quadratic in their number.
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
    """Yield whole entries as lines, with the number of the lines before them. Raises CorpusError."""
    block: list[bytes] = []
    before = size = 0
    with open_stream(path) as file:
        for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b"")):
            if size > BLOCK and _begins_entry(line):
                yield before, block
                block, before, size = [], number, 0
            check_line(path, number + 1, line)
            block.append(line)
            size += len(line)
            if size > LONGEST_ENTRY:
                raise CorpusError(f"{path}, line {number + 1}: an entry longer than {LONGEST_ENTRY} bytes")
    yield before, block


def _begins_entry(line: bytes) -> bool:
    return line.startswith(BEGINNINGS) or (line.startswith(b"#") and not line.startswith(b"#~"))


def check_line(path: Path | str, number: int, line: bytes) -> None:
    """Raise CorpusError for a line that is too long, or that Babel would read wrongly."""
    if len(line) > LONGEST_LINE:
        raise CorpusError(f"{path}, line {number}: longer than {LONGEST_LINE} bytes: divide it")
    # Babel drops the last character of an unterminated string.
    line = line.strip()
    if line and not line.startswith(b"#") and not line.endswith(b'"'):
        raise CorpusError(f"{path}, line {number}: not PO (a string that does not end): correct it")


def parse_lines(path: Path | str, parser: PoFileParser, before: int, lines: list[bytes]) -> None:
    """Parse lines that follow `before` others of a file. Raises CorpusError."""
    try:
        parser.parse(lines)
    except PoFileError as error:
        reason = str(error).rpartition(" on ")[0]
        raise CorpusError(
            f"{path}, line {before + error.lineno + 1}: not PO ({reason}): correct it"
        ) from error
    except (ValueError, LookupError, TypeError, SyntaxError) as error:
        raise CorpusError(f"{path}: not PO ({error}): check it with `msgfmt --check`") from error
