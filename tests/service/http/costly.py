"""Requests within the limits that cost as much as they can: their bodies, files, paths and queries."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from index.formats.markup.office import MARKS_A_TEXT as OFFICE_MARKS
from index.formats.registry import MARKS_A_TEXT
from service import limits
from tests.files import zipped

LONGEST_BODY = limits.MAX_BODY_BYTES
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=b"
FILE = "/translate_file"
LONGEST_FILE, MOST_TEXTS = limits.MAX_FILE_BYTES, limits.MAX_FILE_TEXTS
SENTENCE, WORD = "/translate/sentence", "/translate/word"
TRANSLATE, JOBS = "/translate", "/admin/jobs"
PART = b'--b\r\nContent-Disposition: form-data; name="q"\r\n\r\n'
END = b"\r\n--b--\r\n"
TU = b'<tu><tuv xml:lang="en"><seg>'
LONG_MARK = "\U0001f600"  # a character of four bytes


@dataclass(frozen=True)
class Costly:
    """A request that is refused, or answered, and may cost little."""

    name: str
    path: str
    body: bytes = b""
    content_type: str = JSON
    method: str = "POST"


def costly_requests() -> Iterator[Costly]:
    """For each schema the documents that cost most under the limits."""
    # A word is read as a sentence is, and what is to be detected as what LibreTranslate's clients send.
    for path, field in ((SENTENCE, b"text"), (TRANSLATE, b"q")):
        name = f"{path}: {field.decode()}"
        for value in (b"1", b'""', b"[]", b'{"a":{}}', b"[" * 99 + b"]" * 99):
            yield Costly(f"{name} of {value[:8].decode()}", path, filled(b'{"%b":[' % field, value, b"]}"))
        yield Costly(f"{name}, unknown fields", path, b"{%b}" % fields(45_000))
        yield Costly(f"{name}, as many as are read", path, filled(b'{"%b":[' % field, b"1", b"]}", 1200))
        most = filled(b'{"%b":[' % field, b"[]", b"]}", 3 * limits.MAX_BODY_MARKS // 2 - 20)
        yield Costly(f"{name}, as many lists as are parsed", path, most)
        yield Costly(f"{name}, as many fields as are read", path, b"{%b}" % fields(600))
        yield Costly(f"{name}, nested", path, b"[" * LONGEST_BODY)
        yield Costly(f"{name}, a long text", path, filled(b'{"%b":"' % field, b"\\n", b'"}', joint=b""))
        yield Costly(f"{name}, a long number", path, b'{"%b":"a","k":%b}' % (field, b"9" * 4200))
        yield Costly(f"{name}, a longer number", path, b'{"%b":"a","k":0.%b}' % (field, b"9" * 500_000))
    yield Costly("/detect", "/detect", translation("q", ["A dog. " * 140] * 256))
    yield Costly("targets", SENTENCE, filled(b'{"text":"a","target":[', b"1", b"]}"))
    yield Costly("a long target", SENTENCE, filled(b'{"text":"a","target":"', b"a", b'"}', joint=b""))
    marks = "".join(mark * 100 for mark in "\u0345\u035c\u0301\u0302\u059a\u0316\u031b\u0321\u0334\u0327")
    yield Costly("combining marks", SENTENCE, translation("text", [marks] * 256))
    yield Costly("invisible characters", SENTENCE, translation("text", ["\u200e" * 1000] * 170))
    yield Costly("no language", SENTENCE, json.dumps({"text": ["1 2 3"] * 256, "target": "de"}).encode())
    texts = [f"{number} dogs run on the beach." for number in range(256)]
    yield Costly("most answers", SENTENCE, translation("text", texts, k=11))
    yield Costly("most answers, again", SENTENCE, translation("text", texts, k=11))
    seen = ["near", "pictograms"]
    yield Costly(
        "most answers, seen", SENTENCE, translation("text", texts, k=11, min_confidence=0, include=seen)
    )
    yield Costly("seen again and again", SENTENCE, translation("text", ["a"], include=["pictograms"] * 500))
    words = [f"{'d' * number}og" for number in range(98)]
    yield Costly(
        "most words, seen", WORD, translation("word", words * 2, k=15, min_confidence=0, include=seen)
    )
    yield Costly("sentences of texts", SENTENCE, translation("text", ["A dog. " * 100] * 256))
    yield Costly("most sentences of texts", SENTENCE, translation("text", ["A dog. " * 11] * 256))
    yield Costly("sentences of texts, put together", TRANSLATE, translation("q", ["A dog. " * 11] * 256))
    for sign in (
        "A dog. ",
        "A dog.\n",
        "A dog; ",
        "1. ",
        "\n",
        "a.",
        ". ",
        "<p>",
        "<b>",
        "&lt;",
        "<p translate=no>",
    ):
        long = [sign * ((LONGEST_BODY - 100) // len(json.dumps(sign).strip('"')))]
        yield Costly(f"a long text of {sign!r}", TRANSLATE, translation("q", long))
        yield Costly(f"long markup of {sign!r}", TRANSLATE, translation("q", long, format="html"))
    yield Costly("as many sentences as are asked", TRANSLATE, translation("q", ["A small dog. " * 2999]))
    for markup in ("<a ", "<b>x", "&a;&", "<!--", "<a b=c d=e ", "<", "</", "<a \"'", "&#1"):
        bodies = [(markup * 1000)[:1000]] * 256
        yield Costly(f"markup of {markup}", TRANSLATE, translation("q", bodies, format="html"))
    yield Costly(
        "a form of escapes", TRANSLATE, filled(b"q=", b"%41", b"&source=en&target=de", 131_000, b""), FORM
    )
    yield Costly("a long form of escapes", TRANSLATE, filled(b"q=", b"%41", b"", joint=b""), FORM)
    yield Costly("a form of fields", TRANSLATE, b"&" * 131_000, FORM)
    for value in (b"a", b"\r", b"\r\n", b"\r\n--a"):
        yield Costly(f"a part of {value!r}", TRANSLATE, filled(PART, value, END, joint=b""), MULTIPART)
    for charset in ("punycode", "utf-7"):
        head = f"multipart/form-data; charset={charset}; boundary=b"
        form = (
            b'--b\r\nContent-Disposition: form-data; name="q-"\r\n\r\n'
            + b"x" * 250_000
            + b"-a" * 120_000
            + END
        )
        yield Costly(f"a form in {charset}", TRANSLATE, form, head)
        yield Costly(f"a file in {charset}", FILE, form, head)
    semicolons = b'--b\r\nContent-Disposition: form-data; name="a"' + b";" * 4000 + b"\r\n\r\nx\r\n"
    for path in (TRANSLATE, FILE):
        yield Costly(f"{path}, heads of semicolons", path, filled(b"", semicolons, END, joint=b""), MULTIPART)
        yield Costly(
            f"{path}, two boundaries",
            path,
            filled(b"", semicolons, END, joint=b""),
            MULTIPART.replace("; ", "; boundary=zz; "),
        )
        few = filled(b"", semicolons[:900] + b"\r\n\r\nx\r\n", END, 14_000, joint=b"")
        yield Costly(f"{path}, few heads of semicolons", path, few, MULTIPART)
    yield Costly("many parts", TRANSLATE, filled(b"", PART + b"a\r\n", END, joint=b""), MULTIPART)
    yield Costly(
        "many heads", TRANSLATE, filled(b"--b\r\n", b"a:b\r\n", b"\r\nx" + END, joint=b""), MULTIPART
    )


def costly_files() -> Iterator[Costly]:
    """The files that cost most to be filled; of every format: tests/index/formats/test_filling_costs.py."""
    full = LONGEST_FILE - 1000
    unit = b"<trans-unit><source>"
    xliff = b'<xliff version="1.2"><file source-language="en" target-language="de"><body>'
    ends = b"</body></file></xliff>"
    documents = {
        "lines.txt": filled(b"", b"a", b"", full, b"\n"),
        "line ends.txt": b"\r" * full,
        "odd line ends.txt": "\u2028".encode() * (full // 3),
        "one line.txt": b"A dog runs. " * (full // 12),
        "tags.txt": b"<a " * (full // 3),
        "lines.html": b"a\n" * (full // 2),
        "no letters.html": b"#\n" * (full // 2),
        "sentences.html": b"Dog ran. " * (full // 9),
        "spaces.properties": b"a " * (full // 2),
        "one.strings": b'"a" = "' + b"a " * (full // 2),
        "tags.srt": b"1\n00:00:00,000 --> 00:00:01,000\n" + b'<i a="b">x</i>' * (full // 15),
        "lists.json": filled(b"[", b"[]", b"]", full),
        "fields.json": b"{%b}" % fields(350_000),
        "deep.json": b"[" * full,
        "number.json": b"[%b]" % (b"9" * full),
        "escapes.json": b'["%b"]' % (b"\\u0041" * (full // 6)),
        "units.tmx": filled(b"<tmx><body>", b"<tu/>", b"</body></tmx>", full, b""),
        "nested.tmx": b"<tmx><body>" + TU * 80 + b"a" * (full - 4000) + b"</seg></tuv></tu>" * 80,
        "attributes.tmx": b"<tmx %b/>" % b" ".join(b'a%x=""' % number for number in range(380_000)),
        "nested.xliff": xliff + unit * 120 + b"a" * (full - 8000) + b"</source></trans-unit>" * 120 + ends,
        "comments.xliff": filled(xliff, b"<!---->", ends, full, b""),
        "namespaces.xliff": filled(b"<xliff><file><body>", b'<a xmlns="b"/>', ends, full, b""),
        "laughs.xliff": _laughs(),
        "entries.po": b"".join(b'msgid "%x"\nmsgstr "b"\n' % number for number in range(full // 27)),
        "comments.po": b"#\n" * (full // 2),
        "one entry.po": b'msgid "%b"\nmsgstr ""\n' % (b"a" * (full - 100)),
        "flags.po": b"#, %b\n" % b",".join([b"a"] * (full // 2 - 100)) + b'msgid "a"\nmsgstr ""\n',
    }
    yield from (file_to_fill(name, content) for name, content in documents.items())
    yield from _longest_files(full, xliff + b"%b" + ends)
    yield Costly("a board of rows", "/board?name=a.csv", b"en,de\n" + b"a,b\n" * (full // 4), BYTES)
    long = b"en,de,topic\n" + b"a,b,%b\n" % (b"c" * 800) * (full // 805)
    yield Costly("a board of long topics", "/board?name=a.csv", long, BYTES)
    yield Costly("a board of one cell", "/board?name=a.csv", b'en,de\n"' + b"a" * full, BYTES)
    yield from (file_to_fill(name, content) for name, content in _packed_files().items())


def _packed_files() -> dict[str, bytes]:
    paragraph = "<p><r><t>A dog runs.</t></r></p>"
    most = OFFICE_MARKS * MOST_TEXTS - 10
    names = " ".join(f'a{number}=""' for number in range(most - 10))
    documents = {
        "tags.docx": "<p/>" * most,
        "runs.docx": "<p><r><rPr><b/></rPr><t>A dog</t></r></p>" * (most // 9),
        "attributes.docx": f"<p {names}/>",
        "wide.docx": f"<p><r><t>{LONG_MARK * 990_000}</t></r></p>",
        "spaces.docx": paragraph + " " * 3_990_000,
        "far too long.docx": paragraph + " " * 60_000_000,
    }
    files = {
        name: zipped(("word/document.xml", f"<document><body>{body}</body></document>"))
        for name, body in documents.items()
    }
    bomb = bytearray(files["far too long.docx"])
    size = bomb.rindex(b"PK\x01\x02") + 24
    bomb[size : size + 4] = (100).to_bytes(4, "little")
    document = ("word/document.xml", f"<document><body>{paragraph}</body></document>")
    return files | {
        "says less.docx": bytes(bomb),
        "image.docx": zipped(document, ("word/media/a.png", "\0" * 60_000_000)),
        "parts.docx": zipped(document, *((f"{number:x}", "") for number in range(35_000))),
        "strings.xlsx": zipped(
            ("xl/sharedStrings.xml", f"<sst>{'<si><t>A dog</t></si>' * MOST_TEXTS}</sst>")
        ),
    }


def _longest_files(full: int, xliff: bytes) -> Iterator[Costly]:
    """As many of anything as are read."""
    most = MARKS_A_TEXT * MOST_TEXTS - 20
    sentence = b"A dog runs on the beach with a ball, and %x of its friends run after it. "
    texts = [(sentence % number * 11)[:830] for number in range(1_000)]  # of 5,000 a crowd: test_costs.py
    unit = b"<trans-unit><source>%b</source></trans-unit>"
    entry, plural = (
        b'msgid "%x"\nmsgstr "%b"\n',
        b'msgid "a%x"\nmsgid_plural "b"\nmsgstr[0] ""\nmsgstr[1] ""\n',
    )
    documents = {
        "spaces.txt": b"\n".join([b"A dog" + b" " * 800 + b"runs."] * (MOST_TEXTS - 1)),
        "lists.json": b"[%b]" % b",".join([b"[]"] * (most // 2)),
        "many texts.json": b"[%b]" % b",".join([b'"a"'] * most),
        "texts.xliff": xliff % b"".join(unit % text[:700] for text in texts),
        "parts.xliff": xliff % b"".join(unit % (b"a<g/>" * 8) for _ in range(MOST_TEXTS)),
        "entities.xliff": xliff % (b"&amp;" * most),
        "long.po": b"".join(entry % (number, b"b " * 200) for number in range(most // 11)),
        "lines.po": b'msgid ""\n' + b'"a"\n' * (most - 40) + b'msgstr ""\n',
        "plurals.po": b"".join(plural % number for number in range(most // 21)),
    }
    for name, content in documents.items():
        yield file_to_fill(f"as many as are read, {name}", content[:full])


def _laughs() -> bytes:
    entities = [b'<!ENTITY a0 "%b">' % (b"ha" * 50)]
    entities += [b'<!ENTITY a%d "%b">' % (number, b"&a%d;" % (number - 1) * 10) for number in range(1, 10)]
    return b"<!DOCTYPE xliff [%b]><xliff version='&a9;'><file>&a9;</file></xliff>" % b"".join(entities)


def file_to_fill(name: str, content: bytes) -> Costly:
    """A file to be filled, its format chosen by its name."""
    head = b'--b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n'
    parts = [head % part for part in ((b"source", b"en"), (b"target", b"de"))]
    start = b'--b\r\nContent-Disposition: form-data; name="file"; filename="%b"\r\n\r\n' % name.encode()
    return Costly(f"a file, {name}", FILE, b"".join(parts) + start + content + END, MULTIPART)


def filled(head: bytes, value: bytes, tail: bytes, length: int = LONGEST_BODY, joint: bytes = b",") -> bytes:
    """A body of as many values as fit into so many bytes."""
    number = (length - len(head) - len(tail)) // (len(value) + len(joint))
    return head + joint.join([value] * number) + tail


def fields(number: int) -> bytes:
    return b",".join(b'"%x":1' % name for name in range(number))


def translation(field: str, texts: list[str], **options: object) -> bytes:
    body = {field: texts, "source": "en", "target": "de", **options}
    return json.dumps(body, ensure_ascii=False).encode()


LONGEST = 60_000  # characters of a path: uvicorn reads 64 kB of a head
LONGEST_QUERY = limits.MAX_QUERY_BYTES - 100
BYTES = "application/octet-stream"
Get = partial(Costly, method="GET")
MARKS = "\u0345\u035c\u0301\u0302\u059a\u0316\u031b\u0321\u0334\u0327"


def costly_queries() -> Iterator[Costly]:
    """For each route that reads its path or its query, what costs most under the limits."""
    yield from _concordances()
    for path in ("/teach/pictures", "/download_file/a", "/problems/not-found", "/phrases"):
        yield Get(f"{path}, many options", f"{path}?{_repeated('count=300')}")
    for path in ("/download_file/", "/problems/"):
        yield Get(f"{path} of a long name", path + "a" * LONGEST)


def _concordances() -> Iterator[Costly]:
    asked: dict[str, dict[str, object]] = {
        "all sentences": {},
        "a word": {"text": "a"},
        "a long phrase": {"text": "a " * 100},
        "signs": {"text": r".*+?()[]{}|\^$" * 14},
        "combining marks": {"text": "".join(mark * 20 for mark in MARKS)},
        "a far row": {"text": "a", "begin": 2**62},
    }
    for name, options in asked.items():
        yield Get(
            f"concordance of {name}", f"/concordance?{urlencode({'source': 'en', 'count': 100} | options)}"
        )
    yield Get("concordance, unknown targets", f"/concordance?source=en&{_repeated('target=xx', 128)}")
    yield Get("concordance, too many targets", f"/concordance?source=en&{_repeated('target=xx')}")
    yield Get("concordance, many sources", f"/concordance?{_repeated('source=en')}")
    yield Get("concordance, unknown options", f"/concordance?source=en&{_repeated('a=b')}")
    yield Get("concordance of a long word", f"/concordance?source=en&text={'a' * LONGEST_QUERY}")
    yield Get("concordance of a long language", f"/concordance?source={'a' * LONGEST_QUERY}")


def _repeated(option: str, count: int | None = None) -> str:
    """An option of a query again and again, as often as it is read."""
    return "&".join([option] * (count or LONGEST_QUERY // (len(option) + 1)))
