"""TMX and XLIFF; what XML can do to a reader, and that it is refused."""

import http.server
import io
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.errors import CorpusError
from index.formats.document import Filling
from index.formats.markup import tmx
from index.formats.registry import Source, open_document, read
from index.formats.sentence import Sentence

TMX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header creationtool="x" segtype="sentence" adminlang="en" srclang="en"
datatype="plaintext"/>
<body>
<tu tuid="u1" creationid="ANNA"><prop type="x-domain">pets</prop><note>careful</note>
 <tuv xml:lang="en-US" changeid="BEN">
 <seg>A <bpt i="1">&lt;b&gt;</bpt>black<ept i="1">&lt;/b&gt;</ept> <hi>dog</hi>.</seg></tuv>
 <tuv xml:lang="de"><seg>Ein <!-- so -->schwarzer Hund &amp; Freund.</seg></tuv>
</tu>
<tu><tuv lang="en"><seg>A cat.</seg></tuv></tu>
</body></tmx>"""
XLIFF_1 = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="menu.ui" source-language="en" target-language="de" datatype="plaintext"><body><group id="g">
<trans-unit id="open" resname="open.label"><source>Open <g id="1">the</g> file<x id="2"/></source>
 <target state="translated">Datei öffnen</target><note>Button</note>
 <alt-trans><target>Auf!</target></alt-trans></trans-unit>
<trans-unit id="shut"><source>Close</source><target state="needs-translation">Close</target></trans-unit>
<trans-unit id="bare"><source>Help</source></trans-unit>
</group></body></file></xliff>"""
SEGMENT = '<mrk mtype="seg" mid="{}">{}</mrk>'
SEGMENTS = """<xliff version="1.2"><file source-language="en" target-language="de"><trans-unit id="a">
<source>Text</source><seg-source>{}</seg-source><target> {} </target></trans-unit></file></xliff>"""
XLIFF_2 = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="pt">
<file id="f" original="a.txt"><unit id="u"><notes><note>Title</note></notes>
<segment id="1" state="final"><source>A <pc id="1">dog</pc>.</source>
<target>Um <ph id="3"/>cão.</target></segment>
<segment id="2" state="initial"><source>A cat.</source><target>A cat.</target></segment>
</unit></file></xliff>"""


def found(path: Path, content: str | bytes, format: str | None = None) -> list[Sentence]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read(Source(path, format=format)))


def test_tmx_units_are_groups_with_metadata(tmp_path: Path) -> None:
    one, two, three = found(tmp_path / "m.tmx", TMX)
    assert (one.id, one.language, one.text) == ("u1", "en-US", "A black dog.")
    assert one.metadata == {
        "creationid": "ANNA",
        "x-domain": "pets",
        "note": "careful",
        "changeid": "BEN",
        "codes": "A <bpt1/>black<ept1/> <hi1>dog</hi1>.",
    }
    assert (two.language, two.text, two.line) == ("de", "Ein schwarzer Hund & Freund.", 9)
    assert (three.id, three.language) == ("2", "en")
    assert one.group == two.group != three.group


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "utf-8-sig"])
def test_the_encoding_is_that_of_the_file(tmp_path: Path, encoding: str) -> None:
    declared = TMX.replace("UTF-8", "UTF-8" if encoding == "utf-8-sig" else encoding.upper())
    assert found(tmp_path / "m.tmx", declared.encode(encoding)) == found(tmp_path / "m.tmx", TMX)


def test_tmx_is_written_as_it_is_read(tmp_path: Path) -> None:
    units = [
        [
            Sentence("u1", "A <dog> & \x07more.", "en", 0, {"n": [1], "target_text": " A  \u200f\x07"}),
            Sentence("7  a", "Ein Hund.", "de", 0, {}),
        ],
        [Sentence("8", "Só.", "pt", 0, {})],
    ]
    out = io.StringIO()
    tmx.write(out, units, "en")
    one, two, three = found(tmp_path / "m.tmx", out.getvalue().encode())
    assert (one.id, one.text, one.metadata) == ("u1", "A <dog> & more.", units[0][0].metadata)
    assert [(s.id, s.language, s.text) for s in (two, three)] == [
        ("7  a", "de", "Ein Hund."),
        ("8", "pt", "Só."),
    ]
    assert one.group == two.group != three.group


def test_xliff_1_2(tmp_path: Path) -> None:
    one, two, three, four, five = found(tmp_path / "m.xlf", XLIFF_1)
    assert (one.id, one.language, one.text) == ("open", "en", "Open the file")
    assert (two.id, two.language, two.text) == ("open", "de", "Datei öffnen")
    assert two.metadata == {
        "resname": "open.label",
        "note": "Button",
        "original": "menu.ui",
        "state": "translated",
    }
    assert one.group == two.group != three.group == four.group
    assert [one.confirmed, two.confirmed, three.confirmed, four.confirmed, five.confirmed] == [
        *[True] * 3, False, True
    ]  # fmt: skip


def test_xliff_2(tmp_path: Path) -> None:
    one, two, three, four = found(tmp_path / "m.xliff", XLIFF_2)
    assert (one.id, one.language, one.text) == ("u.1", "en", "A dog.")
    assert (two.language, two.text) == ("pt", "Um cão.")
    assert two.metadata == {"note": "Title", "original": "a.txt", "state": "final", "codes": "Um <ph3/>cão."}
    assert one.group == two.group != three.group
    assert (three.confirmed, four.confirmed) == (True, False)


@pytest.mark.parametrize("empty", ["<seg/>", "<seg></seg>", "<seg> </seg>"])
def test_an_empty_variant_keeps_all_but_its_segment(empty: str) -> None:
    content = TMX.replace("<seg>Ein <!-- so -->schwarzer Hund &amp; Freund.</seg>", f"<note>so</note>{empty}")
    content = content.replace('xml:lang="de"', 'xml:lang="de-AT" creationid="BEN"')
    document = open_document(content.encode(), "x.tmx", "de")
    assert document.fill(document.units[0], Filling("Hund", fuzzy=True))
    filled = '<prop type="x-fuzzy">yes</prop><seg>Hund</seg>'
    assert document.content().decode() == content.replace(empty, filled)


@given(st.lists(st.sampled_from(["kept", "exact", "fuzzy"]), min_size=1, max_size=3), st.booleans())
def test_segments_are_filled_each_and_confirmed_together(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str], marked: bool
) -> None:
    source = " ".join(SEGMENT.format(number, "Text") for number, _ in enumerate(kinds))
    rows = [(number, "kept" * (kind == "kept")) for number, kind in enumerate(kinds)]
    target = " ".join(SEGMENT.format(*row) for row in rows if row[1] or marked)
    document = open_document(SEGMENTS.format(source, target).encode(), "x.xlf", "de")
    assert document.kept == kinds.count("kept")
    for unit, kind in zip(document.units, (kind for kind in kinds if kind != "kept"), strict=True):
        assert document.fill(unit, Filling(kind, kind == "fuzzy"))
    german = found(tmp_path_factory.getbasetemp() / "x.xlf", document.content())[1::2]
    assert [(s.text, s.confirmed) for s in german] == [(kind, "fuzzy" not in kinds) for kind in kinds]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<tmx><body><tu>", r"m\.tmx, line 1: not well-formed XML"),
        ("", r"m\.tmx, line \d: not well-formed XML"),
        (TMX[:-30], r"m\.tmx, line \d+: not well-formed XML"),
        ("<xliff/>", r"m\.tmx, line 1: <xliff>, not <tmx>: give --format"),
        ("<tmx><body><tu><tuv lang='en'/></tu></body></tmx>", r"line 1: a <tuv> without xml:lang or <seg>"),
        (TMX.replace("A cat.", "A &cat;."), r"m\.tmx, line \d+: &cat; is not defined"),
        ("<tmx><body><tu>\x07</tu></body></tmx>", r"m\.tmx, line 1: a character that XML does not allow"),
        (TMX.encode() + b"\xff", r"m\.tmx, line \d+: not well-formed"),
        ("<?xml version='1.0' encoding='no-such'?><tmx/>", r"m\.tmx, line 1: not well-formed"),
        ("<a>" * 10_000, r"m\.tmx, line 1: "),
    ],
)
def test_what_is_malformed_is_refused_with_its_line(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(CorpusError, match=message) as caught:
        found(tmp_path / "m.tmx", content)
    assert "\n" not in str(caught.value)


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
BODY = "<tmx><body><tu>{}<tuv xml:lang='en'><seg>{}</seg></tuv></tu></body></tmx>"


@pytest.mark.parametrize(
    "attack",
    [
        f'<!DOCTYPE tmx [<!ENTITY l0 "ha">{LAUGHS}]>' + BODY.format("", "&l11;"),
        f'<!DOCTYPE tmx [<!ENTITY l0 "ha">{LAUGHS}]>' + BODY.format("<note a='&l11;'/>", "x"),
        f'<!DOCTYPE tmx [<!ENTITY l0 "ha">{LAUGHS}]><tmx a="&l11;"/>',
        f'<!DOCTYPE tmx [<!ENTITY big "{"a" * 100_000}">]>' + BODY.format("", "&big;" * 50_000),
        '<!DOCTYPE tmx [<!ENTITY x SYSTEM "file://CANARY">]>' + BODY.format("", "&x;"),
        '<!DOCTYPE tmx [<!ENTITY % x SYSTEM "file://CANARY"> %x;]>' + BODY.format("", "x"),
        '<!DOCTYPE tmx [<!ENTITY x SYSTEM "http://127.0.0.1:PORT/">]>' + BODY.format("", "&x;"),
        '<!DOCTYPE tmx [<!ENTITY % x SYSTEM "http://127.0.0.1:PORT/"> %x;]>' + BODY.format("", "x"),
    ],
)
def test_entities_are_refused_and_nothing_is_opened(tmp_path: Path, attack: str) -> None:
    asked: list[str] = []

    class Canary(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    canary = tmp_path / "canary"
    canary.write_text("<!ENTITY y 'the canary sang'>")
    with http.server.HTTPServer(("127.0.0.1", 0), Canary) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        attack = attack.replace("CANARY", str(canary)).replace("PORT", str(server.server_port))
        with pytest.raises(CorpusError) as caught:
            found(tmp_path / "m.tmx", attack)
        server.shutdown()
    assert "sang" not in str(caught.value)
    assert asked == []


def test_a_dtd_named_by_a_file_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "evil.dtd").write_text('<!ENTITY x "the canary sang">')
    content = f'<!DOCTYPE tmx SYSTEM "{tmp_path}/evil.dtd">' + BODY.format("", "&x;")
    with pytest.raises(CorpusError, match="&x; is not defined"):
        found(tmp_path / "m.tmx", content)
    assert found(tmp_path / "m.tmx", content.replace("&x;", "x"))[0].text == "x"


MEMORY = """
import resource, sys
from pathlib import Path
from index.formats.registry import Source, read
count = 0
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    for sentence in read(Source(Path(sys.argv[1]))):
        count += 1
except Exception as error:
    print(error)
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def memory(path: Path) -> tuple[list[str], int, int]:
    """Message, sentences read and KiB that reading took at most, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=True
    )
    *message, last = done.stdout.splitlines()
    count, grown = map(int, last.split())
    return message, count, grown


@pytest.mark.parametrize(
    ("head", "middle", "repeat"),
    [
        ("<tmx><body><tu><tuv xml:lang='en'><seg>", "a" * (1 << 20), 100),  # one endless segment
        ("<tmx><body><tu><tuv xml:lang='en'><seg>", "a<hi/>" * (1 << 17), 100),  # of many parts
        ("<tmx><body a='", "a" * (1 << 20), 100),
    ],
)
def test_an_endless_segment_is_refused_in_little_memory(
    tmp_path: Path, head: str, middle: str, repeat: int
) -> None:
    with (tmp_path / "m.tmx").open("w") as file:
        file.write(head)
        for _ in range(repeat):
            file.write(middle)
    message, count, grown = memory(tmp_path / "m.tmx")
    assert len(message) == 1
    assert count == 0
    assert grown < 150_000


def test_a_long_file_is_read_in_little_memory(tmp_path: Path) -> None:
    with (tmp_path / "m.tmx").open("w") as file:
        file.write("<tmx><header>" + "<junk>x</junk>" * 100_000 + "</header><body>")
        for _ in range(60_000):
            file.write("<tu><tuv xml:lang='en'><seg>A sentence of some length it is.</seg></tuv></tu>\n")
        file.write("</body></tmx>")
    message, count, grown = memory(tmp_path / "m.tmx")
    assert (message, count) == ([], 60_000)
    assert grown < 30_000
