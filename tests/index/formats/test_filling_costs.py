"""The costliest document of each format: filled in time that grows as it does, or refused."""

import time
import tracemalloc
import zipfile

import pytest

from index.errors import CorpusError, UsageError
from index.formats.document import Filling
from index.formats.registry import MARKS_A_TEXT, open_document
from tests.files import zipped

SECONDS = 5  # of processor time; what is tried here took minutes
COUNT = 90_000
TU, UNIT = b'<tu><tuv xml:lang="en"><seg>', b"<trans-unit><source>"

SEGMENTS = b"""<xliff><file source-language="en"><trans-unit><source>a</source><seg-source>%b</seg-source>
</trans-unit></file></xliff>"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.po", b'msgid ""\n' + b'"a"\n' * COUNT + b'msgstr ""\n'),
        ("x.po", b'msgid "a' + b"!" * COUNT + b'"\nmsgstr ""\n'),
        ("x.po", b'msgid "a"\nmsgstr ""\n' + b'"a"\n' * COUNT),
        ("x.po", b"# " + b"!" * COUNT + b'\nmsgid "a"\nmsgstr ""\n'),
        ("x.po", b"?\n" * COUNT),
        ("x.txt", b"a\n" * COUNT),
        ("x.json", b"[" + b'"a",' * COUNT + b'"a"]'),
        ("x.json", b'{"a":"' + b"{a,select,b{" * COUNT + b'"}'),
        ("x.json", b'{"a":"{a,plural,' + b"b{'{'}" * COUNT + b'}"}'),
        ("x.tmx", b"<tmx><body>%b%b%b</body></tmx>" % (TU * 80, b"a" * COUNT, b"</seg></tuv></tu>" * 80)),
        ("x.tmx", b"<tmx><body>%b</body></tmx>" % ((TU + b"a" * 2000 + b"</seg></tuv></tu>") * 12_000)),
        ("x.xlf", SEGMENTS % b"".join(b"<mrk mtype='seg' mid='%d'>a</mrk>" % n for n in range(9000))),
        ("x.html", b"<" * COUNT),
        ("x.html", b"<html " * COUNT),
        ("x.html", b"<meta " * COUNT),
        ("x.html", b"<script>" * COUNT),
        ("x.html", b"<b translate=no>" * COUNT),
        ("x.html", b"<b" + b" class='a class=" * COUNT),
        ("x.html", b"<b>" * COUNT + b"a" + b"</b>" * COUNT),
        ("x.html", b"<p>a" + b" " * COUNT + b"b"),
        ("x.html", b"A. B. " * COUNT),
        ("x.properties", b"\\" * COUNT),
        ("x.properties", b"a " * COUNT),
        ("x.properties", b"a\\\n" * COUNT),
        ("x.strings", b"/*" * COUNT),
        ("x.strings", b'"' * COUNT),
        ("x.srt", b"00:" * COUNT),
        ("x.srt", b"00:00:01,000" + b" " * COUNT),
        ("x.xml", b"<resources><string>%b</string></resources>" % (b'"' * COUNT)),
        ("x.xml", b"<resources><string>%b</string></resources>" % (b"<b>a</b>" * COUNT)),
        ("x.yml", b"[" * COUNT),
        ("x.yml", b"a: " * COUNT),
        ("x.yml", b"a: b\n" * COUNT * 2),
        ("x.xcstrings", b'{"strings":{%b}}' % b",".join(b'"%d":{}' % n for n in range(COUNT // 2))),
        ("x.xlf", b"<xliff>%b%b%b</xliff>" % (UNIT * 99, b"a" * COUNT, b"</source></trans-unit>" * 99)),
    ],
)
def test_a_costly_document_is_filled_in_linear_time_or_refused(name: str, content: bytes) -> None:
    begun = time.process_time()
    try:
        document = open_document(content, name, "de")
        for unit in document.units:
            document.fill(unit, Filling("!" * COUNT if len(document.units) < 10 else "b"))
        document.content()
    except UsageError:
        pass
    assert time.process_time() - begun < SECONDS


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.txt", b"\n"),
        ("x.txt", b"\r"),
        ("x.po", b"#\n"),
        ("x.json", b"[],"),
        ("x.tmx", b"<tu/>"),
        ("x.tmx", b"a='b' "),
        ("x.xliff", b"&a;"),
        ("x.html", b"a\n"),
        ("x.html", b"#\n"),
        ("x.html", b"Dog ran. "),
        ("x.html", "a\u2028".encode()),
    ],
)
def test_what_is_far_more_than_its_texts_is_refused_unread(name: str, content: bytes) -> None:
    """The contents are none of these formats, which reading would tell."""
    with pytest.raises(UsageError, match="than 10 texts need: divide it"):
        open_document(content * (10 * MARKS_A_TEXT + 1), name, "de", 10)


def test_a_packed_file_is_counted_as_unpacked() -> None:
    """A kilobyte with far more elements than there is memory for."""
    content = "<document><body>" + "<p/>" * 400_000 + "</body></document>"
    with pytest.raises(UsageError, match="more elements than 5000 texts need"):
        open_document(zipped(("word/document.xml", content)), "x.docx", "de", 5000)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_packed_part_is_no_longer_than_it_says(method: int) -> None:
    """A kilobyte or more that says that it has 100 bytes, and has 50 million."""
    content = bytearray(zipped(("word/document.xml", " " * 50_000_000), method=method))
    directory = content.rindex(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = (100).to_bytes(4, "little")
    tracemalloc.start()
    try:
        with pytest.raises(CorpusError, match=r"x\.docx: cannot be unpacked"):
            open_document(bytes(content), "x.docx", "de", 5000)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
