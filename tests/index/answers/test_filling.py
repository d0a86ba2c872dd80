"""Files of every format, filled from the translations in an index."""

import io
import json
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from lxml import etree

from index.answers.filling import Summary, translate_file
from index.answers.translator import Translator
from index.encoder.bundle import Bundle
from index.errors import CorpusError, UnknownLanguageError, UsageError
from index.formats.registry import Source, open_document, read
from index.storage.options import Cleaning
from tests.conftest import Fails, Says
from tests.files import index_of_table

PAIRS = {
    "Delete file": "Datei löschen",
    "Press Enter to continue.": "Weiter mit der Eingabetaste.",
    "Page 3 of 10": "Seite 3 von 10",
    "One file": "Eine Datei",
    "%d files": "%d Dateien",
}
# exact, nearly, unknown
EXACT, NEARLY, UNKNOWN = "Delete file", "Press enter to continue!", "Something else entirely"


@pytest.fixture(scope="module")
def memory(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, rows = tmp_path_factory.mktemp("documents") / "ui.tsv", [("en", "de"), *PAIRS.items()]
    return index_of_table(bundle, path, rows, cleaning=Cleaning(("language",)))


@pytest.fixture(scope="module")
def translator(memory: Path) -> Translator:
    return Translator.open(memory)


def filled(
    translator: Translator, folder: Path, name: str, content: str, *, fuzzy: bool | None = None
) -> tuple[Summary, str]:
    (folder / name).write_text(content, "utf-8")
    out = folder / f"out.{name}"
    return translate_file(translator, folder / name, out, "de", "en", fuzzy=fuzzy), out.read_text("utf-8")


PO = f"""\
# A title
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

#. a note
#: main.c:3
msgctxt "menu"
msgid "{EXACT}\\n"
msgstr ""

msgid "{NEARLY}"
msgstr ""

msgid "{UNKNOWN}"
msgstr ""

msgid "Close"
msgstr "Zu"

#, c-format
msgid "One file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""
"""


def test_po(translator: Translator, tmp_path: Path) -> None:
    summary, text = filled(translator, tmp_path, "x.po", PO)
    assert summary == Summary(translated=3, fuzzy=1, empty=1, kept=1, fuzzy_written=True)
    catalog = read_po(io.StringIO(text), abort_invalid=True)
    assert catalog.locale_identifier == "de"
    exact = catalog.get(f"{EXACT}\n", "menu")
    assert exact is not None
    assert (exact.string, exact.fuzzy, exact.auto_comments) == ("Datei löschen\n", False, ["a note"])
    nearly, unknown, closed = (catalog.get(text) for text in (NEARLY, UNKNOWN, "Close"))
    assert nearly is not None
    assert unknown is not None
    assert closed is not None
    assert (nearly.string, nearly.fuzzy) == ("Weiter mit der Eingabetaste.", True)
    assert '#| msgid "Press Enter to continue."' in text
    assert (unknown.string, closed.string) == ("", "Zu")
    plural = catalog.get("One file")
    assert plural is not None
    assert (plural.string, plural.fuzzy) == (("Eine Datei", "%d Dateien"), False)


XLIFF_1 = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
  <!-- kept -->
  <file original="a" source-language="en-US" datatype="plaintext"><body>
    <trans-unit id="1"><source>{EXACT}</source></trans-unit>
    <trans-unit id="2"><source>Press <g id="1">Enter</g> to continue.</source><target
    state="new"/></trans-unit>
    <trans-unit id="3"><source>{UNKNOWN}</source></trans-unit>
    <trans-unit id="4"><source>Close</source><target>Zu</target></trans-unit>
    <trans-unit id="5" translate="no"><source>{EXACT}</source></trans-unit>
  </body></file>
</xliff>
"""
XLIFF_2 = f"""\
<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en" trgLang="de">
  <file id="f"><unit id="u"><segment id="1"><source>{EXACT}</source></segment>
  <segment id="2"><source>Delete the file</source></segment></unit></file>
</xliff>
"""


def test_xliff_1(translator: Translator, tmp_path: Path) -> None:
    summary, text = filled(translator, tmp_path, "x.xlf", XLIFF_1)
    assert summary == Summary(translated=1, fuzzy=1, empty=1, kept=1, fuzzy_written=True)
    root = etree.fromstring(text.encode())
    assert root.find("{*}file").get("target-language") == "de"
    targets = {target.getparent().get("id"): target for target in root.iter("{*}target")}
    assert list(targets) == ["1", "2", "4"]
    assert (targets["1"].text, targets["1"].get("state")) == ("Datei löschen", "translated")
    assert targets["2"].text == "Weiter mit der Eingabetaste."
    assert targets["2"].get("state") == "needs-review-translation"
    assert "<!-- kept -->" in text
    confirmed = [s.text for s in read(Source(tmp_path / "out.x.xlf")) if s.language == "de" and s.confirmed]
    assert confirmed == ["Datei löschen", "Zu"]


def test_xliff_2(translator: Translator, tmp_path: Path) -> None:
    summary, text = filled(translator, tmp_path, "x.xliff", XLIFF_2)
    assert (summary.translated, summary.fuzzy) == (1, 1)
    root = etree.fromstring(text.encode())
    segments = [(s.get("state"), s.findtext("{*}target")) for s in root.iter("{*}segment")]
    assert segments == [("translated", "Datei löschen"), ("initial", "Datei löschen")]


TMX = f"""\
<tmx version="1.4"><header srclang="en" segtype="sentence" adminlang="en" datatype="plaintext" o-tmf="x"
 creationtool="x" creationtoolversion="1"/><body>
<tu><tuv xml:lang="en"><seg>{EXACT}</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>{NEARLY}</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>{UNKNOWN}</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Close</seg></tuv><tuv xml:lang="de-AT"><seg>Zu</seg></tuv></tu>
</body></tmx>
"""


def test_tmx(translator: Translator, tmp_path: Path) -> None:
    summary, _ = filled(translator, tmp_path, "x.tmx", TMX)
    assert summary == Summary(translated=1, fuzzy=1, empty=1, kept=1, fuzzy_written=True)
    german = [s for s in read(Source(tmp_path / "out.x.tmx")) if s.language.startswith("de")]
    assert [(s.text, s.confirmed) for s in german] == [
        ("Datei löschen", True),
        ("Weiter mit der Eingabetaste.", False),
        ("Zu", True),
    ]


JSON = {
    "menu": {"delete": EXACT, "more": [NEARLY, UNKNOWN]},
    "@menu": {"note": EXACT},
    "old": {"message": EXACT, "description": EXACT},
    "count": 3,
}


@pytest.mark.parametrize("fuzzy", [None, True])
def test_json_is_written_without_what_it_cannot_mark(
    translator: Translator, tmp_path: Path, fuzzy: bool | None
) -> None:
    summary, text = filled(translator, tmp_path, "x.json", json.dumps(JSON), fuzzy=fuzzy)
    assert summary == Summary(translated=2, fuzzy=1, empty=1, kept=0, fuzzy_written=bool(fuzzy))
    assert json.loads(text) == {
        "menu": {
            "delete": "Datei löschen",
            "more": ["Weiter mit der Eingabetaste." if fuzzy else NEARLY, UNKNOWN],
        },
        "@menu": {"note": EXACT},
        "old": {"message": "Datei löschen", "description": EXACT},
        "count": 3,
    }


@pytest.mark.parametrize(
    ("other", "counts"), [("%d files", (2, 0, 1)), (UNKNOWN, (0, 0, 3)), (NEARLY, (0, 3, 0))]
)
def test_the_branches_of_a_message_are_filled_all_or_not_at_all(
    translator: Translator, tmp_path: Path, other: str, counts: tuple[int, ...]
) -> None:
    form = '{{"a": "{}", "n": "{{n, plural, one{{{}}} other{{{}}} =7{{{}}}}}"}}'
    last = "%d files" if other == NEARLY else "#"
    summary, text = filled(translator, tmp_path, "x.arb", form.format(EXACT, "One file", other, last))
    assert (summary.translated - 1, summary.fuzzy, summary.empty) == counts
    one, others = ("Eine Datei", "%d Dateien") if counts[0] else ("One file", other)
    assert text == form.format("Datei löschen", one, others, last)


LOSING = ("Page {0} of 10", "Page 3.5 of 10", "Page <b>3</b> of 10", "Page 3 of 10 {\\an8}", "# files (%d%%)")


def test_nothing_is_filled_that_loses_a_placeable(translator: Translator, tmp_path: Path) -> None:
    texts, kept = "Page 4 of 12\n{n} files", "Seite 4 von 12\n{n} Dateien"
    summary, text = filled(translator, tmp_path, "y.txt", "\n".join([texts, *LOSING]), fuzzy=True)
    assert (summary.fuzzy, summary.empty, text) == (2, len(LOSING), "\n".join([kept, *LOSING]))


SENTENCES, TRANSLATIONS = "Press Enter to continue. Delete file", "Weiter mit der Eingabetaste. Datei löschen"


def test_a_text_is_filled_sentence_by_sentence(translator: Translator, tmp_path: Path) -> None:
    """Or not at all; lines and tags around a subtitle do not matter, and the least sure one decides."""
    unknown = f"{EXACT}. {UNKNOWN}"
    cues = [SENTENCES, f"<i>{EXACT}</i>", "Delete\nfile", SENTENCES.replace("r t", "r\nt"), unknown]
    wanted = [TRANSLATIONS, "<i>Datei löschen</i>", "Datei löschen", TRANSLATIONS, unknown]
    form = "".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{{}}\n\n" for n in range(len(cues)))
    summary, text = filled(translator, tmp_path, "x.srt", form.format(*cues))
    assert (summary.translated, summary.empty, text) == (4, 1, form.format(*wanted))
    nearly = f"{NEARLY} {EXACT}"
    summary, text = filled(translator, tmp_path, "y.po", f'msgid "{nearly}"\nmsgstr ""\n')
    assert (summary.translated, summary.fuzzy) == (0, 1)
    assert f'#, fuzzy\n#| msgid "{SENTENCES}"\nmsgid "{nearly}"\nmsgstr "{TRANSLATIONS}"' in text


@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        ("x.odt", b"", UsageError, "x.odt: not a file that can be filled"),
        ("x.json", b"{", CorpusError, "x.json: not JSON"),
        ("x.json", b"3", CorpusError, "no texts"),
        ("x.json", b"[" * 5000 + b"]" * 5000, CorpusError, "x.json"),
        ("x.txt", b"a\n\xff\n", CorpusError, "x.txt, line 2: not UTF-8"),
        ("x.po", b'msgid "a\nmsgstr ""', CorpusError, "x.po, line 1: not PO"),
        ("x.po", b'msgid ""\nmsgstr "Language: fr\\n"\n', UsageError, "are in fr, not de: give --to fr"),
        ("x.xlf", b"<tmx/>", CorpusError, "<tmx>, not <xliff>"),
        ("x.tmx", b"<tmx>", CorpusError, "x.tmx, line 1: not well-formed XML"),
        ("x.tmx", b'<!DOCTYPE tmx [<!ENTITY a "b">]><tmx>&a;</tmx>', CorpusError, "declares entities"),
    ],
)
def test_a_bad_file_is_reported(name: str, content: bytes, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        open_document(content, name, "de")


def test_the_command(memory: Path, tmp_path: Path, says: Says, fails: Fails) -> None:
    (tmp_path / "x.po").write_text(PO, "utf-8")
    given = ["translate-file", str(tmp_path / "x.po"), "--to", "de", "--index", str(memory)]
    out = tmp_path / "x.de.po"
    assert says(*given).out == (f"{out}: 3 translated, 1 fuzzy, 1 left empty; 1 had a translation\n")
    assert "exists: give --out" in fails(*given)
    assert json.loads(says(*given, "--out", out, "--json").out)["translated"] == 3
    assert "xx" in fails(*given[:3], "xx", *given[4:], "--out", out)


def test_the_language_is_the_files_own_or_detected(translator: Translator, tmp_path: Path) -> None:
    (tmp_path / "x.xlf").write_text(XLIFF_1.replace("en-US", "ja"), "utf-8")
    with pytest.raises(UnknownLanguageError, match="'ja'"):
        translate_file(translator, tmp_path / "x.xlf", tmp_path / "y.xlf", "de")
    (tmp_path / "x.po").write_text('msgid "Ein kleiner Hund läuft am Strand."\nmsgstr ""\n', "utf-8")
    assert translate_file(translator, tmp_path / "x.po", tmp_path / "y.po", "de").looks_like == "de"
    with pytest.raises(UsageError, match="its texts count as English: give their language with --from"):
        translate_file(translator, tmp_path / "x.po", tmp_path / "y.po", "en")
    (tmp_path / "x.txt").write_text("A small dog runs on the beach.\n", "utf-8")
    for spelling in ("de", "DE", "de_AT"):
        assert translate_file(translator, tmp_path / "x.txt", tmp_path / "y.txt", spelling).empty == 1
