"""Gettext PO, parsed by Babel: msgid is English (gettext's convention), msgstr the header's Language."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import PoFileError, read_po

from index.errors import CorpusError
from index.formats.sentence import Sentence, local_group
from index.formats.streams import open_stream

LONGEST_FILE = 64 << 20  # bytes: a catalogue is read whole
SOURCE_LANGUAGE = "en"


def read(path: Path, language: str | None) -> Iterator[Sentence]:
    """Yield msgid and msgstr of every entry; the plural pairs with the last msgstr. Raises CorpusError."""
    catalog = _catalog(path)
    code = catalog.locale_identifier or (language if language != SOURCE_LANGUAGE else None)
    if code is None:
        raise CorpusError(f"{path}: its header has no `Language:`: add it, or give --corpus LANG={path}")
    for number, message in enumerate((entry for entry in catalog if entry.id), start=1):
        for form, (source, target) in enumerate(_forms(message)):
            name = str(number) if form == 0 else f"{number}.plural"
            group, metadata, line = local_group(path, name), _metadata(message), message.lineno or 0
            yield Sentence(name, source, SOURCE_LANGUAGE, line, metadata, group)
            yield Sentence(name, target, code, line, metadata, group, confirmed=not message.fuzzy)


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


def _catalog(path: Path) -> Catalog:
    with open_stream(path) as file:
        content = file.read(LONGEST_FILE + 1)
    if len(content) > LONGEST_FILE:
        raise CorpusError(f"{path}: longer than {LONGEST_FILE} bytes: split it")
    _check_quotes(path, content)
    try:
        return read_po(io.BytesIO(content), ignore_obsolete=True, abort_invalid=True)
    except PoFileError as error:
        reason = str(error).rpartition(" on ")[0]
        raise CorpusError(f"{path}, line {error.lineno + 1}: not PO ({reason}): correct it") from error
    except (ValueError, LookupError, TypeError, SyntaxError) as error:
        raise CorpusError(f"{path}: not PO ({error}): check it with `msgfmt --check`") from error


def _check_quotes(path: Path, content: bytes) -> None:
    # Babel drops the last character of an unterminated string.
    for number, line in enumerate(content.splitlines(), start=1):
        line = line.strip()
        if line and not line.startswith(b"#") and not line.endswith(b'"'):
            raise CorpusError(f"{path}, line {number}: not PO (a string that does not end): correct it")
