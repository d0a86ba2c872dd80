"""The costliest document of each format: read and written in time that grows as it does, or refused."""

import io
import time

import pytest

from index.documents.document import LONGEST_TEXT
from index.documents.translation import DOCUMENT_FORMATS, MARKS_A_TEXT, VALUE_MARKS, open_document
from index.errors import CorpusError, UsageError

SECONDS = 5  # of processor time; what is tried here took minutes
COUNT = 90_000
TU, UNIT = b'<tu><tuv xml:lang="en"><seg>', b"<trans-unit><source>"


@pytest.mark.parametrize(
    "content",
    [
        b'msgid ""\n' + b'"a"\n' * COUNT + b'msgstr ""\n',
        b'msgid ""\n' + b'"!"\n' * COUNT + b'msgstr ""\n',
        b'msgid "a"\nmsgstr ""\n' + b'"a"\n' * COUNT,
        b"# " + b"a" * COUNT + b'\nmsgid "a"\nmsgstr ""\n',
        b"# " + b"!" * COUNT + b'\nmsgid "a"\nmsgstr ""\n',
    ],
    ids=["letters", "marks", "a translation", "a comment", "a comment of marks"],
)
def test_long_words_are_not_wrapped_slowly(content: bytes) -> None:
    begun = time.process_time()
    open_document(content, "x.po", "de").write(io.BytesIO())
    assert time.process_time() - begun < SECONDS


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.txt", b"\n"),
        ("x.txt", "\u2028".encode()),
        ("x.txt", b"\r"),
        ("x.po", b"#\n"),
        ("x.po", b'msgid "a"\nmsgstr "b"\n'),
        ("x.json", b"[],"),
        ("x.tmx", b"<tu/>"),
        ("x.tmx", b"a='b' "),
        ("x.xliff", b"&a;"),
    ],
)
def test_what_is_far_more_than_its_texts_is_refused_unread(name: str, content: bytes) -> None:
    """The contents are none of these formats, which reading would tell."""
    with pytest.raises(UsageError, match="than 10 texts need: divide it"):
        open_document(content * (10 * MARKS_A_TEXT + 1), name, "de", 10)


def test_every_format_has_marks() -> None:
    assert {where.partition(":")[0] for where in DOCUMENT_FORMATS.values()} == VALUE_MARKS.keys()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "x.tmx",
            b"<tmx><body>%b%b%b</body></tmx>" % (TU * 80, b"a" * LONGEST_TEXT, b"</seg></tuv></tu>" * 80),
        ),
        (
            "x.xliff",
            b"<xliff>%b%b%b</xliff>" % (UNIT * 100, b"a" * LONGEST_TEXT, b"</source></trans-unit>" * 100),
        ),
    ],
)
def test_texts_within_texts_do_not_multiply(name: str, content: bytes) -> None:
    open_document(content, name, "de")
    with pytest.raises(CorpusError, match="a text of 65537 characters, the most is 65536: divide it"):
        open_document(content.replace(b"aa", b"aaa", 1), name, "de")
