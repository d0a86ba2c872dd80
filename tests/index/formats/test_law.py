"""What holds of every format that is filled: other bytes stay, and what is filled in is read again."""

import codecs
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from index.errors import CorpusError, UsageError
from index.formats.document import Filling
from index.formats.registry import DOCUMENT_EXTENSIONS, Source, open_document, read
from tests.files import zipped

PO = """\
# title, with a form feed \f
msgid ""
msgstr ""
"Language: de\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=n != 1;\\n"
"X-Poedit-Basepath: ..\\n"

#: zeta.c:9 alpha.c:3
#, c-format, no-wrap
#| msgctxt "old"
#| msgid "%d ship"
msgctxt "menu"
msgid "%d ships"
msgstr "%d Schiffe"

#.  two  spaces
#, php-format
msgid ""
"A long text, which is "
"wrapped.\\n"
msgstr ""

msgid   "One file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

#~| msgid "older"
#~ msgid "old"
#~ msgstr "alt"
"""
POT = PO.replace("Language: de", "Language: ").replace("charset=UTF-8", "charset=CHARSET")
POT = POT.replace("nplurals=2; plural=n != 1", "nplurals=INTEGER; plural=EXPRESSION")
TMX = """<?xml version='1.0' encoding="UTF-8" ?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version='1.4'><header srclang="en"  segtype="sentence"/><body><!-- so -->
  <tu tuid='1'  ><prop type="x">é</prop>
    <tuv xml:lang="en"><seg>Click <bpt i="1">&lt;b&gt;</bpt>Save<ept i="1">&lt;/b&gt;</ept>.</seg></tuv>
  </tu>
  <tu><tuv xml:lang="en"><seg>A &amp; B&#160;</seg></tuv><tuv xml:lang="de"><seg/></tuv></tu>
  <tu><tuv xml:lang="en"><seg>Bad &nbsp; entity</seg></tuv></tu>
</body></tmx>
"""
XLIFF_1 = """<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="a" source-language="en" datatype="x"><body>
  <trans-unit id="1"><source>Open <g id="1">the</g> <x id="2"/>file</source></trans-unit>
  <trans-unit id="2" ><source>Close</source><target state='new'/></trans-unit>
  <trans-unit id="3"><source>One. Two.</source>
    <seg-source><mrk mtype="seg" mid="1">One.</mrk> <mrk mtype="seg" mid="2">Two.</mrk></seg-source>
  </trans-unit>
  <trans-unit id="4" translate="no"><source>Brand</source></trans-unit>
</body></file></xliff>"""
XLIFF_2 = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en"  trgLang="de">
<file id="f"><unit id="u"><segment id="1"><source>A <pc id="1">dog</pc>.</source></segment>
<segment id="2" state="initial"><source>A cat.</source><target></target></segment></unit></file></xliff>"""
JSON = """{
    "menu": { "open":"Open the file", "empty": "", "n" :1e5,"big": 12345678901234567890 },
\t"list": ["One", {"a": "Two\\u00a0"}], "@open": {"description": "a note"}, "dup": "Three", "dup": "Four"}"""
ARB = '{"@@locale": "en", "hello": "Hello {name}", "@hello": {"placeholders": {"name": {"x": "Ann"}}}}\n'
XCSTRINGS = """{
  "sourceLanguage" : "en",
  "strings" : {
    "Open" : { },
    "%lld dogs" : {"comment":"a note",
      "localizations" : {"fr" : {"stringUnit" : {"state":"translated","value":"x"}}}},
    "title" : {"localizations" : {"en" : {"stringUnit" : {"state" : "new", "value" : "A title"}}}},
    "Brand" : {"shouldTranslate" : false},
    "Done" : {"localizations" : {"de" : {"stringUnit" : {"state" : "translated", "value" : "Fertig"}}}}
  },
  "version" : "1.0"
}
"""
YAML = """# comment
en:
  menu: {open: "Open the file", close: 'Close it'}   # so
  plain: Plain text
  block: |
    Two lines
    of text.
  yes_word: "yes"
  n: 3
  list: [One, Two]
  anchor: &x !!str "Three" # so
  tag: ! # a note
    Four
  block: &y |
    Five
  aliases: [*x, *y]
"""
ANDROID = """<?xml version="1.0" encoding="utf-8"?>
<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">
    <!-- a note -->
    <string name="a">It\\'s <b>bold</b> &amp; new</string>
    <string name="b" translatable="false">Brand</string>
    <string name="c">"  spaced "</string>
    <string name="d">@string/a</string>
    <string-array name="e"><item>One</item><item>Two</item></string-array>
    <plurals name="f"><item quantity="one">%d dog</item><item quantity="other">%d dogs</item></plurals>
</resources>
"""
STRINGSDICT = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict><key>dogs</key><dict><key>NSStringLocalizedFormatKey</key><string>%#@n@</string>
<key>n</key><dict><key>NSStringFormatValueTypeKey</key><string>d</string>
<key>one</key><string>%d dog</string><key>other</key><string>%d dogs</string></dict></dict></dict></plist>
"""
RESX = """<?xml version="1.0" encoding="utf-8"?>
<root><resheader name="version"><value>2.0</value></resheader>
  <data name="Open" xml:space="preserve"><value>Open &lt;it&gt;</value><comment>a note</comment></data>
  <data name="Icon" type="System.Drawing.Icon"><value>AAAA</value></data>
</root>"""
APPLE = '/* a note */\n"open" = "Open \\"it\\"";\nCFBundleName   =  "Name" ; // so\n"k" = "Two\\nlines";\n'
PROPERTIES = "# note\nopen = Open \\\n   the file\nclose:Close\n  spaced   =  caf\\u00e9\n!x\nempty=\n"
SRT = "1\n00:00:01,000 --> 00:00:02,000\nA dog runs.\n\n2\n00:00:03,000 --> 00:00:04,500\n<i>Two\nmen</i>\n"
VTT = "WEBVTT\n\nNOTE a note\n\nintro\n00:01.000 --> 00:02.000 align:start\nA dog runs.\n"
HTML = """<!DOCTYPE html><html lang="en"><head><title>A title</title><style>p { color: red }</style></head>
<body><p class=x>A dog &amp; a cat. <b>Two men talk.</b></p><script>var a = "A dog";</script>
<ul><li>One<li>A <i>black</i> dog</ul><img alt="x"></body></html>
"""

WORD = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>
<w:p><w:r><w:t>A dog </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>runs.</w:t></w:r></w:p>
<w:p><w:pPr/><w:r><w:t xml:space="preserve">A cat.</w:t></w:r></w:p></w:body></w:document>"""
SHEET = """<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" count="1" uniqueCount="1">
<si><t>A dog</t></si><si><r><t>Two </t></r><r><t>cats</t></r></si></sst>"""


def packed(name: str, part: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("[Content_Types].xml", "<Types/>")
        parts.writestr(name, part)
        parts.writestr("docProps/app.xml", "<Properties/>", zipfile.ZIP_STORED)
        parts.comment = b"made up"
    return file.getvalue()


OFFICE = {"x.docx": packed("word/document.xml", WORD), "x.xlsx": packed("xl/sharedStrings.xml", SHEET)}
INLINE = SHEET.replace("sst", "worksheet").replace("si>", "is>")
OFFICE["inline.xlsx"] = packed("xl/worksheets/sheet1.xml", INLINE)
SAMPLES = {
    "x.po": PO,
    "x.pot": POT,
    "x.tmx": TMX,
    "x.xlf": XLIFF_1,
    "x.sdlxliff": XLIFF_1,
    "x.mqxliff": XLIFF_1,
    "x.mxliff": XLIFF_1,
    "x.xliff": XLIFF_2,
    "x.json": JSON,
    "x.arb": ARB,
    "x.xcstrings": XCSTRINGS,
    "x.yml": YAML,
    "x.yaml": YAML.replace("\nen:", "\nen: &top"),
    "x.xml": ANDROID,
    "x.stringsdict": STRINGSDICT,
    "x.resx": RESX,
    "x.strings": APPLE,
    "x.properties": PROPERTIES,
    "x.srt": SRT,
    "x.vtt": VTT,
    "x.html": HTML,
    "x.htm": HTML,
    "x.txt": "\fOpen the file\n\nno end",
}
# Translations of texts: what is a text again, in whatever format it stands.
TRANSLATION = "Translated."
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=30)


def variants(text: str) -> list[bytes]:
    return [text.encode(), text.replace("\n", "\r\n").encode(), codecs.BOM_UTF8 + text.encode()]


def test_every_format_has_a_sample() -> None:
    assert {Path(name).suffix for name in (*SAMPLES, *OFFICE)} == set(DOCUMENT_EXTENSIONS)


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_not_filled_stays_byte_for_byte(name: str) -> None:
    for content in variants(SAMPLES[name]):
        document = open_document(content, name, "de")
        assert document.units
        assert document.content() == content


@pytest.mark.parametrize("name", SAMPLES)
def test_filling_changes_only_what_is_filled(name: str) -> None:
    for content in variants(SAMPLES[name]):
        texts = [unit.text for unit in open_document(content, name, "de").units]
        for number in range(len(texts)):
            document = open_document(content, name, "de")
            filling = Filling(TRANSLATION)
            adapt = document.units[number].adapt
            filling = (adapt(filling) if adapt else None) or filling
            assert document.fill(document.units[number], filling)
            before, after = content.decode("utf-8-sig"), document.content().decode("utf-8-sig")
            assert TRANSLATION in after
            edits = sorted(place for place, _ in document.edits.items())
            begins, ends = [0, *(end for _, end in edits)], [*(begin for begin, _ in edits), len(before)]
            kept = (re.escape(before[begin:end]) for begin, end in zip(begins, ends, strict=True))
            assert re.search(".*".join(kept), after, re.DOTALL) or document.head
            again = [unit.text for unit in open_document(document.content(), name, "de").units]
            others = [other for place, other in enumerate(texts) if place != number]
            # The two forms of a plural are one entry.
            assert [other for other in again if other != TRANSLATION] in (others, others[:-1])


@given(st.text("\uffff\ufffeé€😀a<>&", max_size=5), st.sampled_from(["", "<?xml version='1.0' é?>"]))
def test_what_stands_beside_characters_that_xml_does_not_allow_is_filled(text: str, head: str) -> None:
    rows = head + "<root><data><value>{}</value></data><data><value>{}</value></data></root>"
    document = open_document(rows.format(escape(text), "Open").encode(), "x.resx", "de")
    assert document.fill(document.units[-1], Filling(TRANSLATION))
    assert document.content().decode() == rows.format(escape(text), TRANSLATION)


KEYED = ("x.json", "x.yml", "x.xml", "x.stringsdict", "x.resx", "x.strings", "x.properties", "x.srt")


MARKS = ("", "  ", "\n", "'", '"', "\\", "<b>", "&amp;", "@", "#")


@given(st.sampled_from(KEYED), TEXTS, st.sampled_from(MARKS))
@example("x.xml", "?", "")
def test_a_text_that_was_filled_in_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, name: str, text: str, mark: str
) -> None:
    wanted = f"{text}{mark}{text}"
    document = open_document(SAMPLES[name].encode(), name, "de")
    assert document.fill(document.units[0], Filling(wanted))
    path = tmp_path_factory.getbasetemp() / f"filled{Path(name).suffix}"
    path.write_bytes(document.content())
    sentences = [sentence for sentence in read(Source(path, "de")) if sentence.text.strip()]
    assert sentences[0].text == wanted


@pytest.mark.parametrize("name", OFFICE)
def test_office_files_keep_their_other_parts(name: str, tmp_path: Path) -> None:
    document = open_document(OFFICE[name], name, "de")
    assert document.content() == OFFICE[name]
    filling = Filling("<Ein> & Hund")
    for unit in document.units:
        assert document.fill(unit, filling)
    (tmp_path / name).write_bytes(document.content())
    assert [unit.text for unit in open_document(document.content(), name, "de").units] == ["<Ein> & Hund"] * 2
    with zipfile.ZipFile(io.BytesIO(OFFICE[name])) as before, zipfile.ZipFile(tmp_path / name) as after:
        assert (before.namelist(), before.comment) == (after.namelist(), after.comment)
        assert before.read("docProps/app.xml") == after.read("docProps/app.xml")


def test_runs_that_look_different_make_a_paragraph_fuzzy() -> None:
    one, two = open_document(OFFICE["x.docx"], "x.docx", "de").units
    assert [unit.adapt and unit.adapt(Filling("x")) for unit in (one, two)] == [
        Filling("x", True),
        Filling("x"),
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no archive", "cannot be unpacked"),
        (packed("other.xml", "<a/>"), "no paragraphs or shared strings"),
        (lambda: packed("word/document.xml", " " * (65 << 20)), "unpacked: divide it"),
        (packed("word/document.xml", "<document><p>"), "word/document.xml, line 1: not well-formed"),
    ],
)
def test_a_bad_office_file_is_reported(content: bytes | Callable[[], bytes], said: str) -> None:
    with pytest.raises(CorpusError, match=said):
        open_document(content() if callable(content) else content, "x.docx", "de")


def test_a_damaged_part_that_is_not_filled_is_reported() -> None:
    content = OFFICE["x.docx"].replace(b"<Properties/>", b"<Qroperties/>")
    document = open_document(content, "x.docx", "de")
    assert document.content() == content
    document.fill(document.units[0], Filling("x"))
    with pytest.raises(CorpusError, match=r"x\.docx: cannot be unpacked"):
        document.content()


def test_a_workbook_with_odd_numbers_is_read(tmp_path: Path) -> None:
    rows = "<worksheet><sheetData>{}</sheetData></worksheet>"
    names, texts = (
        '<row r="x"><c r="A1"><v>en</v></c></row>',
        '<row r="{0}"><c r="A2" t="s"><v>{0}</v></c></row>',
    )
    found = rows.format(names + '<row r="-"><c r="A2"><v>A dog</v></c></row>' + texts.format("9" * 5000))
    (tmp_path / "x.xlsx").write_bytes(packed("xl/worksheets/sheet1.xml", found))
    assert [(s.text, s.line) for s in read(Source(tmp_path / "x.xlsx"))] == [("A dog", 2)]


def test_a_document_is_read_by_paragraphs_and_a_workbook_as_a_table(tmp_path: Path) -> None:
    (tmp_path / "x.docx").write_bytes(OFFICE["x.docx"])
    paragraphs = [sentence.text for sentence in read(Source(tmp_path / "x.docx", "en"))]
    assert paragraphs == ["A dog runs.", "A cat."]
    rows = """<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c t="str"><v>topic</v></c>
    <c r="C1" t="inlineStr"><is><t>de</t></is></c></row>
    <row r="3"><c r="A3" t="s"><v>1</v></c><c><v>7</v></c>
    <c r="C3" t="inlineStr"><is><t>Ein Hund</t></is></c></row></sheetData></worksheet>"""
    texts = "<sst><si><t>en</t></si><si><t>A dog</t><rPh><t>a dog</t></rPh></si></sst>"
    (tmp_path / "x.xlsx").write_bytes(
        zipped(("xl/sharedStrings.xml", texts), ("xl/worksheets/sheet1.xml", rows))
    )
    one, two = read(Source(tmp_path / "x.xlsx"))
    assert [(s.text, s.language, s.line) for s in (one, two)] == [("A dog", "en", 3), ("Ein Hund", "de", 3)]
    assert one.metadata == {"topic": "7"}
    assert one.group == two.group
    with pytest.raises(
        UsageError, match="a table in en, de: name in it a column fr to fill, and one in another"
    ):
        open_document((tmp_path / "x.xlsx").read_bytes(), "x.xlsx", "fr")
    with_ids = zipped(
        ("xl/sharedStrings.xml", texts), ("xl/worksheets/sheet1.xml", rows.replace(">de<", ">ID<"))
    )
    assert [unit.text for unit in open_document(with_ids, "x.xlsx", "de").units]


TABLE = """<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData>
<x:row r="1"><x:c r="A1" t="s"><x:v>0</x:v></x:c><x:c r="B1" t="s"><x:v>1</x:v></x:c>
<x:c r="C1" t="inlineStr"><x:is><x:t>Deutsch</x:t></x:is></x:c><x:c r="D1"><x:v>context</x:v></x:c>
<x:c r="E1"><x:v>fr</x:v></x:c></x:row>
<x:row r="2"><x:c r="A2"><x:v>Cancel</x:v></x:c><x:c r="B2" t="s"><x:v>2</x:v></x:c></x:row>
<x:row r="3"><x:c r="B3" t="s"><x:v>2</x:v></x:c><x:c r="C3" s="7" t="s"/>
<x:c r="D3"><x:v>menu</x:v></x:c></x:row>
<x:row r="4"><x:c r="B4" t="s"><x:v>2</x:v></x:c><x:c r="C4"><x:v>Optionen</x:v></x:c></x:row>
<x:row r="5"><x:c r="B5" t="s"><x:v>2</x:v></x:c><x:c r="C5"><x:f>B5</x:f></x:c></x:row>
<x:row r="6"><x:c r="C6"/><x:c r="E6"><x:v>Chien</x:v></x:c></x:row></x:sheetData></x:worksheet>"""
TABLE_STRINGS = "<sst><si><t>ID</t></si><si><t>English</t></si><si><t>Cancel</t></si></sst>"


def test_of_a_table_the_empty_cells_of_its_own_column_are_filled(tmp_path: Path) -> None:
    content = zipped(("xl/sharedStrings.xml", TABLE_STRINGS), ("xl/worksheets/sheet1.xml", TABLE))
    document = open_document(content, "x.xlsx", "de")
    assert [(unit.text, unit.context) for unit in document.units] == [("Cancel", None), ("Cancel", "menu")]
    assert (document.source, document.kept, document.content()) == ("en", 2, content)
    assert all(document.fill(unit, Filling("<Ab>\nbrechen ")) for unit in document.units)
    (tmp_path / "x.xlsx").write_bytes(document.content())
    with zipfile.ZipFile(tmp_path / "x.xlsx") as filled:
        assert filled.read("xl/sharedStrings.xml").decode() == TABLE_STRINGS
        sheet = filled.read("xl/worksheets/sheet1.xml").decode()
    text = '<x:is><x:t xml:space="preserve">&lt;Ab&gt;\nbrechen </x:t></x:is></x:c>'
    assert sheet == TABLE.replace(
        '</x:c></x:row>\n<x:row r="3">', f'</x:c><x:c r="C2" t="inlineStr">{text}</x:row>\n<x:row r="3">'
    ).replace('<x:c r="C3" s="7" t="s"/>', f'<x:c r="C3" s="7" t="inlineStr">{text}')
    german = [s.text for s in read(Source(tmp_path / "x.xlsx")) if s.language == "de"]
    assert german == ["<Ab>\nbrechen "] * 2 + ["Optionen"]
    british = TABLE.replace('B1" t="s"><x:v>1', 'B1"><x:v>en-GB')
    two = [("xl/worksheets/sheet2.xml", british), ("xl/worksheets/sheet1.xml", TABLE)]
    document = open_document(zipped(("xl/sharedStrings.xml", TABLE_STRINGS), *two), "x.xlsx", "de")
    assert ([unit.text for unit in document.units], document.source) == (["Cancel"] * 4, "en")
    only = zipped(("xl/worksheets/sheet1.xml", TABLE.replace(">fr<", ">other<")))
    with pytest.raises(UsageError, match="a table in de: name in it a column de to fill, and one in another"):
        open_document(only, "x.xlsx", "de")


def test_strings_in_the_cells_of_every_sheet_are_filled_beside_shared_ones(tmp_path: Path) -> None:
    sheets = [(f"xl/worksheets/sheet{number}.xml", INLINE) for number in (10, 2)]
    content = zipped(("xl/sharedStrings.xml", SHEET), *sheets)
    document = open_document(content, "x.xlsx", "de")
    assert [unit.text for unit in document.units] == ["A dog", "Two cats"] * 3
    assert all(document.fill(unit, Filling(TRANSLATION)) for unit in document.units)
    again = open_document(document.content(), "x.xlsx", "de")
    assert [unit.text for unit in again.units] == [TRANSLATION] * 6


def test_headers_footers_and_notes_are_filled_like_the_body_but_no_field() -> None:
    page = '<p><r><t>Page </t></r><r><fldChar fldCharType="begin"/></r><r><t>1</t></r></p>'
    parts = [
        (
            "word/footnotes.xml",
            f"<footnotes><footnote>{page.partition('<r><fld')[0]}</p></footnote></footnotes>",
        ),
        ("word/header1.xml", "<hdr><p><r><t>Terms</t></r></p></hdr>"),
        ("word/footer2.xml", f"<ftr>{page}<p><fldSimple><r><t>2</t></r></fldSimple></p></ftr>"),
        ("word/comments.xml", "<comments><p><r><t>Why?</t></r></p></comments>"),
        ("word/document.xml", WORD),
    ]
    document = open_document(zipped(*parts), "x.docx", "de")
    texts = [unit.text for unit in document.units]
    assert texts == ["A dog runs.", "A cat.", "Terms", "Page 1", "2", "Page "]
    fillings = [unit.adapt and unit.adapt(Filling(TRANSLATION)) for unit in document.units]
    assert [bool(filling) for filling in fillings] == [True, True, True, False, False, True]
    for unit, filling in zip(document.units, fillings, strict=True):
        assert filling is None or document.fill(unit, filling)
    again = [unit.text for unit in open_document(document.content(), "x.docx", "de").units]
    assert again == [TRANSLATION] * 3 + ["Page 1", "2", TRANSLATION]


def test_breaks_divide_words_and_a_text_box_has_its_own_paragraphs() -> None:
    runs = "<r><tab/><t>Name:</t><tab/><t>Ann</t><cr/></r><r>{}<t>a</t><br/></r><r><t>b</t></r>"
    part = f"<document><p>{runs.format(f'<pict><p>{runs}</p></pict>'.format(''))}</p></document>"
    document = open_document(packed("word/document.xml", part), "x.docx", "de")
    assert [unit.text for unit in document.units] == ["Name: Ann a b"] * 2
    assert all(document.fill(unit, Filling(TRANSLATION)) for unit in document.units)
    again = open_document(document.content(), "x.docx", "de")
    assert [unit.text for unit in again.units] == [TRANSLATION] * 2
    with zipfile.ZipFile(io.BytesIO(again.content())) as parts:
        filled = parts.read("word/document.xml").decode()
    assert [filled.count(mark) for mark in ("<tab/>", "<cr/>", "<br/>")] == [4, 2, 2]


def test_a_string_catalogue_has_every_language(tmp_path: Path) -> None:
    document = open_document(XCSTRINGS.encode(), "x.xcstrings", "de")
    assert ([unit.text for unit in document.units], document.kept) == (["Open", "%lld dogs", "A title"], 1)
    for unit in document.units:
        document.fill(unit, Filling(unit.text.upper(), fuzzy=unit.text == "Open"))
    (tmp_path / "x.xcstrings").write_bytes(document.content())
    german = [s for s in read(Source(tmp_path / "x.xcstrings")) if s.language == "de"]
    assert [(s.id, s.text, s.confirmed) for s in german] == [
        ("Open", "OPEN", False),
        ("%lld dogs", "%LLD DOGS", True),
        ("title", "A TITLE", True),
        ("Done", "Fertig", True),
    ]


@pytest.mark.parametrize(
    ("name", "form"), [("x.xcstrings", '{{"strings": {{"{}": {{}}}}}}'), ("x.strings", '"{0}" = "{0}";')]
)
def test_a_key_that_is_a_long_text_is_no_id(name: str, form: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(form.format("Long. " * 120), "utf-8")
    (sentence,) = read(Source(tmp_path / name, "en"))
    assert (sentence.id, sentence.text, sentence.group) == ("1", "Long. " * 120, f"{name}#{'Long. ' * 120}")
