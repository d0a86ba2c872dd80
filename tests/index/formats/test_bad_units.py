"""What is skipped where a file has bad lines or units, and how tables may look."""

import codecs
from pathlib import Path

import pytest

from index.errors import CorpusError, UsageError
from index.formats.registry import Source, read
from index.formats.rows import columns_of
from index.formats.sentence import BadUnits

TMX = """\
<tmx version="1.4"><header/><body>
<tu><tuv xml:lang="en"><seg>A dog.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Half.</seg></tuv><tuv><seg>Ohne.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>A cat.</seg></tuv></tu>
</body></tmx>
"""
XLIFF = """\
<xliff version="1.2"><file><body><trans-unit id="1"><source>No language.</source></trans-unit></body></file>
<file source-language="en"><body><trans-unit id="2"><source>A dog.</source></trans-unit></body></file></xliff>
"""
PO = """\
msgid ""
msgstr ""
"Language: de\\n"

msgid "A dog."
msgstr "Ein Hund."

msgid "broken
msgstr "kaputt"

msgid "A cat."
msgstr "Eine Katze."
"""


@pytest.mark.parametrize(
    ("name", "content", "texts", "bad"),
    [
        ("x.txt", b"A dog.\n\xff\nA cat.\n", ["A dog.", "A cat."], ["line 2: not UTF-8"]),
        ("x.txt", b"A dog.\n" + b"x" * 3_000_000 + b"\nA cat.\n", ["A dog.", "A cat."], ["line 2: longer"]),
        (
            "x.jsonl",
            b'{"text": "A dog."}\n{\n{"text": 3}\n',
            ["A dog."],
            ["line 2: not JSON", "line 3: a text is"],
        ),
        ("x.tsv", b"text\tby\nA dog.\tme\nA cat.\n", ["A dog."], ["line 3: 1 cells, but line 1 names 2"]),
        ("x.csv", b'text,by\n"A"dog,x\nA cat.,me\n', ["A cat."], ["line 2: not CSV"]),
        ("x.csv", b'text,by\nA dog.,x\n"A cat.,me\n', ["A dog."], ["line 3: not CSV"]),
        ("x.tmx", TMX.encode(), ["A dog.", "A cat."], ["line 3: a <tuv> without xml:lang"]),
        ("x.xlf", XLIFF.encode(), ["A dog."], ["line 1: no language for <source>"]),
        ("x.po", PO.encode(), ["A dog.", "Ein Hund.", "A cat.", "Eine Katze."], ["line 8: not PO"]),
    ],
)
def test_a_bad_unit_is_skipped_with_line_and_reason(
    tmp_path: Path, name: str, content: bytes, texts: list[str], bad: list[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    language = None if name.endswith((".tmx", ".xlf", ".po")) else "en"
    noted = BadUnits()
    assert [sentence.text for sentence in read(Source(path, language, bad=noted)) if sentence.text] == texts
    assert len(noted) == len(bad)
    for line, words in zip(noted, bad, strict=True):
        assert line.startswith(f"{name}, {words}")
    with pytest.raises(CorpusError, match=f"{name}, {bad[0][:15]}"):
        list(read(Source(path, language)))


def test_each_is_noted_once_and_all_are_written(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"\xff\nA dog.\n\xfe\n")
    noted = BadUnits()
    for _ in range(2):
        assert len(list(read(Source(path, "en", bad=noted)))) == 1
    noted.write(tmp_path / "bad.tsv")
    assert (tmp_path / "bad.tsv").read_text("utf-8").splitlines() == [
        "file\tline\treason",
        "x.txt\t1\tnot UTF-8: save the file as UTF-8",
        "x.txt\t3\tnot UTF-8: save the file as UTF-8",
    ]


ROWS = [["en", "de"], ["A dog; a cat.", "Ein Hund, eine Katze."], ["“A bird”", "Ein Vogel"]]


def table(delimiter: str) -> str:
    return "".join(delimiter.join(f'"{cell}"' for cell in row) + "\r\n" for row in ROWS)


@pytest.mark.parametrize(
    "content",
    [
        table(",").encode(),
        table(";").encode(),
        table("\t").encode(),
        codecs.BOM_UTF8 + table(";").encode(),
        ("sep=;\r\n" + table(";")).encode(),
        ("sep=|\r\n" + table("|")).encode(),
        table("\t").encode("utf-16"),
        codecs.BOM_UTF16_BE + table(";").encode("utf-16-be"),
    ],
)
def test_tables_as_excel_writes_them(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(content)
    found = [(sentence.language, sentence.text) for sentence in read(Source(tmp_path / "x.csv"))]
    assert found == [pair for row in ROWS[1:] for pair in zip(ROWS[0], row, strict=True)]


def test_excel_quotes_in_a_table_with_tabs(tmp_path: Path) -> None:
    lines = ["text", '"He said ""hello""."', '"Hello," he said.', '"Whole."']
    (tmp_path / "x.tsv").write_text("\n".join(lines), "utf-16")
    found = [sentence.text for sentence in read(Source(tmp_path / "x.tsv", "en"))]
    assert found == ['He said "hello".', '"Hello," he said.', '"Whole."']


@pytest.mark.parametrize("given", ["source=English,target=German", "en=English,de=German"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_columns_are_mapped(tmp_path: Path, given: str, suffix: str) -> None:
    path = tmp_path / f"x.{suffix}"
    contents = {
        "csv": "English;German;Note\nA dog.;Ein Hund.;x\n",
        "tsv": "English\tGerman\tNote\nA dog.\tEin Hund.\tx\n",
        "jsonl": '{"English": "A dog.", "German": "Ein Hund.", "Note": "x"}\n',
    }
    path.write_text(contents[suffix], "utf-8")
    found = list(read(Source(path, columns=tuple(columns_of(given).items()))))
    assert [(sentence.language, sentence.text) for sentence in found] == [
        ("en", "A dog."),
        ("de", "Ein Hund."),
    ]
    assert found[0].metadata == {"Note": "x"}


@pytest.mark.parametrize(
    "given", ["", "en", "en=", "=English", "en=English,de=English", "source=Sentences", "rom=Romungro"]
)
def test_other_mappings_are_refused(given: str) -> None:
    with pytest.raises(UsageError):
        columns_of(given)


def test_a_missing_column_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("English,German\na,b\n", "utf-8")
    with pytest.raises(CorpusError, match="no column 'Englisch': there are English, German"):
        list(read(Source(tmp_path / "x.csv", columns=(("Englisch", "en"),))))
    with pytest.raises(UsageError, match="txt has no columns"):
        list(read(Source(tmp_path / "x.txt", "en", columns=(("Englisch", "en"),))))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.jsonl", '{"text": "A dog.", "note": "%s"}\n{"text": "A cat."}\n' % ("a" * 20_000)),
        ("x.jsonl", '{"text": "A dog.", "id": "%s"}\n{"text": "A cat."}\n' % ("a" * 600)),
        ("x.tsv", f"text\tnote\nA dog.\t{'a' * 20_000}\nA cat.\tb\n"),
        ("x.tmx", TMX.replace("<tu>", f"<tu><note>{'a' * 20_000}</note>", 1).replace("Half.", "")),
    ],
    ids=["metadata", "ID", "column", "note"],
)
def test_what_every_answer_would_repeat_is_bounded(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    bad = BadUnits()
    texts = [found.text for found in read(Source(tmp_path / name, "en", bad=bad))]
    assert "A cat." in texts
    assert "A dog." not in texts
    assert any("longer than" in unit for unit in bad)
