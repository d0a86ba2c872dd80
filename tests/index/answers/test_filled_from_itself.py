"""A catalogue filled from an index of itself: every entry comes back as it was, and is marked translated."""

import re
from pathlib import Path

import pytest

from index.answers.filling import Summary, translate_file
from index.answers.translator import Translator
from index.build.build_index import build_index
from index.encoder.bundle import Bundle
from index.formats.registry import Source

PO = r"""msgid ""
msgstr ""
"Language: de\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=n != 1;\n"

msgid "Sort by size"
msgstr "Nach Größe sortieren"

msgid "Sort by _Size"
msgstr "Nach _Größe sortieren"

msgid "It went wrong:\n%s"
msgstr "Es ging schief:\n%s"

msgid "Close it now?  It is not saved."
msgstr "Jetzt schließen?  Es ist nicht gesichert."

msgid "<b>Date</b>"
msgstr "<b>Datum</b>"

msgid "Date"
msgstr "Tag"

msgid "QUIT!"
msgstr "ABBRUCH!"

msgid "Quit"
msgstr "Beenden"

msgctxt "verb"
msgid "Open"
msgstr "Öffnen"

msgctxt "toolbar"
msgid "Open"
msgstr "Öffnen"

msgctxt "adjective"
msgid "Open"
msgstr "Offen"

msgid "%d dog"
msgid_plural "%d dogs"
msgstr[0] "%d Hund"
msgstr[1] "%d Hunde"
"""
XLIFF = """<xliff version="1.2"><file source-language="en" target-language="de"><body>
<trans-unit id="1"><source>Press <g id="1">Enter</g> to go<x id="2"/> on</source>{}</trans-unit>
<trans-unit id="2"><source>Hello <x id="1"/>!</source>{}</trans-unit>
<trans-unit id="3"><source>First. Second.</source><seg-source><mrk mtype="seg" mid="0">First.</mrk>
<mrk mtype="seg" mid="1">Second.</mrk></seg-source>{}</trans-unit></body></file></xliff>"""
STATE = ' state="translated" state-qualifier="exact-match"'
TARGETS = (
    f'<target{STATE}>Weiter<x id="2"/> mit <g id="1">Eingabe</g></target>',
    f'<target{STATE}>Hallo <x id="1"/>!</target>',
    f'<target{STATE}><mrk mtype="seg" mid="0">Erstens.</mrk>\n'
    '<mrk mtype="seg" mid="1">Zweitens.</mrk></target>',
)
JSON = (
    '{{"save": "{}", "more": ["{}"]}}\n',
    ("Save _all", "More  than\\none"),
    ("_Alles sichern", "Mehr  als\\nein"),
)
ANDROID = (
    '<resources><string name="a">{}</string><string name="b">{}</string></resources>\n',
    ("It\\'s <b>here</b>", "Two %1$s"),
    ("Es ist <b>da</b>", "Zwei %1$s"),
)
ARB = (
    '{{"n": "{{n, plural, =0{{{}}} one{{{}}} other{{{{g, select, f{{{}}} other{{{}}}}}}}}}", "@n": {{}}}}',
    ("No '{'dogs'}'", "# dog", 'All \\"dogs\\"\\nof hers', "All dogs"),
    ("Keine '{'Hunde'}'", "# Hund", 'Alle \\"Hunde\\"\\nvon ihr', "Alle Hunde"),
)
KEYED = {"app.json": JSON, "app.arb": ARB, "strings.xml": ANDROID}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("catalogues")
    (folder / "ui.po").write_text(PO, "utf-8")
    (folder / "ui.xlf").write_text(XLIFF.format(*TARGETS), "utf-8")
    for name, (form, *languages) in KEYED.items():
        for code, texts in zip(("en", "de"), languages, strict=True):
            (folder / code).mkdir(exist_ok=True)
            (folder / code / name).write_text(form.format(*texts), "utf-8")
    return folder


@pytest.fixture(scope="module")
def translator(bundle: Bundle, folder: Path) -> Translator:
    keyed = [Source(folder / code / name, code) for name in KEYED for code in ("en", "de")]
    build_index(bundle, [Source(folder / "ui.po"), Source(folder / "ui.xlf"), *keyed], folder / "index")
    return Translator.open(folder / "index")


def test_a_catalogue_of_gettext(translator: Translator, folder: Path) -> None:
    head, entries = PO.rstrip("\n").split("\n\n", 1)
    empty = re.sub(r'^(msgstr\S*) ".*"$', r'\1 ""', entries, flags=re.MULTILINE)
    (folder / "empty.po").write_text(f"{head}\n\n{empty}", "utf-8")
    summary = translate_file(translator, folder / "empty.po", folder / "filled.po", "de")
    assert summary == Summary(translated=13, fuzzy=0, empty=0, kept=0, fuzzy_written=True)
    # What has several lines is written on as many.
    written = (folder / "filled.po").read_text("utf-8").replace('""\n"', '"').replace('\\n"\n"%s', "\\n%s")
    assert written == PO.replace('""\n"', '"').removesuffix("\n")


def test_xliff_with_inline_codes(translator: Translator, folder: Path) -> None:
    (folder / "empty.xlf").write_text(XLIFF.format("", "", ""), "utf-8")
    summary = translate_file(translator, folder / "empty.xlf", folder / "filled.xlf", "de")
    assert summary == Summary(translated=4, fuzzy=0, empty=0, kept=0, fuzzy_written=True)
    assert (folder / "filled.xlf").read_text("utf-8") == XLIFF.format(*TARGETS)


@pytest.mark.parametrize("name", KEYED)
def test_files_of_one_name(translator: Translator, folder: Path, name: str) -> None:
    out = folder / f"filled-{name}"
    summary = translate_file(translator, folder / "en" / name, out, "de", "en")
    assert summary == Summary(translated=len(KEYED[name][1]), fuzzy=0, empty=0, kept=0, fuzzy_written=False)
    assert out.read_bytes() == (folder / "de" / name).read_bytes()
