"""Tables: TSV, CSV and JSON Lines name their columns alike."""

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from index.errors import CorpusError, UsageError
from index.formats.registry import Source, read
from index.formats.rows import language_of
from index.formats.sentence import Sentence
from index.formats.tsv import write_tsv
from index.languages import language, standard_code
from index.text.normalisation import clean
from tests.files import jsonl, tsv

Rows = list[dict[str, Any]]


def tabbed(path: Path, rows: Rows) -> Path:
    return tsv(path, [list(rows[0]), *(list(row.values()) for row in rows)])


def comma(path: Path, rows: Rows) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


WRITERS: dict[str, Callable[[Path, Rows], Path]] = {
    "tsv": tabbed,
    "csv": comma,
    "jsonl": jsonl,
}
each = pytest.mark.parametrize("suffix", WRITERS)


def found(path: Path, language: str | None = None) -> list[Sentence]:
    return list(read(Source(path, language)))


@each
def test_a_sentence_a_row_keeps_its_columns(tmp_path: Path, suffix: str) -> None:
    rows = [
        {"id": "a", "text": 'A "dog", small.', "language": "en", "book": "One", "group": "g"},
        {"id": "b", "text": "Ein Hund.", "language": "de", "book": "Zwei", "group": "g"},
    ]
    first, second = found(WRITERS[suffix](tmp_path / f"x.{suffix}", rows))
    assert (first.id, first.text, first.language) == ("a", 'A "dog", small.', "en")
    assert first.metadata == {"book": "One"}
    assert (second.id, second.group, first.group) == ("b", "g", "g")
    assert (second.line - first.line, first.confirmed) == (1, True)


@each
def test_the_given_language_is_used_if_there_is_no_column(tmp_path: Path, suffix: str) -> None:
    path = WRITERS[suffix](tmp_path / f"x.{suffix}", [{"text": "Ein Hund."}])
    (sentence,) = found(path, "de")
    assert (sentence.language, sentence.id, sentence.group) == ("de", "1", None)
    with pytest.raises(CorpusError, match=rf"x\.{suffix}, line [12]: no language: give --corpus LANG="):
        found(path)


@each
@pytest.mark.parametrize("german", ["German", "Deutsch"])
def test_a_column_a_language_aligns_a_row(tmp_path: Path, suffix: str, german: str) -> None:
    rows = [{"en": "A dog.", german: "Ein Hund.", "topic": "x"}]
    rows += [{"en": "A cat.", german: "", "topic": "y"}]
    one, two, three = found(WRITERS[suffix](tmp_path / f"x.{suffix}", rows))
    assert [(s.language, s.text) for s in (one, two, three)] == [
        ("en", "A dog."),
        ("de", "Ein Hund."),
        ("en", "A cat."),
    ]
    assert one.group == two.group != three.group
    assert one.metadata == {"topic": "x"}


@each
@pytest.mark.parametrize("key", ["id", "ID", "Id"])
def test_a_column_of_ids_is_not_indonesian(tmp_path: Path, suffix: str, key: str) -> None:
    rows = [{key: "k1", "English (US)": "A dog.", "Deutsch (AT)": "Ein Hund.", "English (old)": "Dog."}]
    one, two = found(WRITERS[suffix](tmp_path / f"x.{suffix}", rows))
    assert [(s.id, s.language, s.text) for s in (one, two)] == [
        ("k1", "en-US", "A dog."),
        ("k1", "de-AT", "Ein Hund."),
    ]
    assert one.metadata == {"English (old)": "Dog."}


def test_of_two_columns_of_ids_the_one_that_is_named_so_counts(tmp_path: Path) -> None:
    (sentence,) = found(jsonl(tmp_path / "x.jsonl", [{"ID": "7", "id": "a", "en": "A dog.", "ind": ""}]))
    assert (sentence.id, sentence.metadata) == ("a", {"ID": "7"})


PHRASES = Path(__file__).resolve().parents[3] / "corpora" / "phrases" / "phrases.tsv"


@pytest.mark.parametrize("code", PHRASES.read_text("utf-8").partition("\n")[0].split("\t")[3:])
def test_the_languages_of_the_phrases_go_by_their_names(code: str) -> None:
    named = language(standard_code(code))
    assert {language_of(name) for name in (named.name, named.native)} == {named.code}


@each
def test_rows_without_a_text_column_are_refused(tmp_path: Path, suffix: str) -> None:
    path = WRITERS[suffix](tmp_path / f"x.{suffix}", [{"satz": "Ein Hund."}])
    with pytest.raises(CorpusError, match=rf"x\.{suffix}, line [12]: no text in it: name a column `text`"):
        found(path, "de")


def test_the_translation_of_hugging_face(tmp_path: Path) -> None:
    metadata = {"year": 1999, "tags": ["a", {"b": None}]}
    rows = [{"id": "7", "translation": {"en": "A dog.", "pt": "Um cão."}, **metadata}]
    one, two = found(jsonl(tmp_path / "x.jsonl", rows))
    assert (one.id, one.language, two.language, two.text) == ("7", "en", "pt", "Um cão.")
    assert (one.group, one.metadata) == (two.group, metadata)


def test_columns_without_a_name_are_no_repeated_columns(tmp_path: Path) -> None:
    """A spreadsheet writes the empty columns before a remark."""
    (tmp_path / "x.csv").write_text("en,de,,,note\nA dog.,Ein Hund.,,,x\n", "utf-8")
    one, two = found(tmp_path / "x.csv")
    assert (one.text, two.text, one.metadata) == ("A dog.", "Ein Hund.", {"note": "x"})


def test_csv_cells_may_hold_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b'text,n\r\n"A\r\ndog.",1\r\nA cat.,2\r\n'))
    one, two = found(path, "en")
    assert (one.text, one.line, two.line) == ("A\r\ndog.", 2, 4)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.tsv", b"text\ttext\n", r"x\.tsv, line 1: a column is named twice"),
        ("x.csv", b"text\n" + b'"' + b"a\n" * 70_000 + b'"\n', r"x\.csv, line 2: not CSV \(field larger"),
        ("x.jsonl", b'["a"]\n', r"x\.jsonl, line 1: list, not an object"),
        ("x.jsonl", b'{"text": "a", "n": NaN}\n', r"x\.jsonl, line 1: not JSON \(NaN is not JSON"),
        ("x.jsonl", b'{"text": ' + b"[" * 100_000 + b"}\n", r"x\.jsonl, line 1: not JSON"),
        ("x.parquet", b"PAR1 and then more", r"x\.parquet: Parquet is not supported: save it as JSON Lines"),
    ],
)
def test_what_is_malformed_is_refused_with_its_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        found(tmp_path / name, "en")


@pytest.mark.parametrize(
    ("encoding", "name", "content"),
    [
        ("cp1251", "t.csv", "ru;en\nСобака бежит.;A dog runs.\n"),
        ("shift_jis", "t.tsv", "ja\ten\n犬が走る。\tA dog runs.\n"),
        ("gb18030", "t.zh", "狗在跑。\n"),
        ("iso-8859-2", "t.srt", "1\n00:00:01,000 --> 00:00:02,000\nPies biegnie żwawo.\n"),
    ],
)
def test_tables_and_text_of_other_encodings(tmp_path: Path, encoding: str, name: str, content: str) -> None:
    written = tmp_path / name
    written.write_bytes(content.encode(encoding))
    texts = [one.text for one in read(Source(written, "pl", encoding=encoding))]
    written.write_text(content, "utf-8")
    assert texts == [one.text for one in read(Source(written, "pl"))] != []
    written.write_text(content, "utf-8-sig")
    assert texts == [one.text for one in read(Source(written, "pl", encoding="utf-8"))]
    with pytest.raises(UsageError, match="tmx says how it is encoded"):
        next(read(Source(tmp_path / "t.tmx", encoding=encoding)))
    written.write_bytes("Łódź".encode("cp1250"))
    if not name.endswith(".srt"):
        with pytest.raises(CorpusError, match="not UTF-8: save the file"):
            list(read(Source(written, "pl")))


@pytest.mark.parametrize("name", ["x.csv", "x.tsv"])
def test_lines_may_end_as_on_an_old_macintosh(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"en\rA dog.\rA cat." + b"\r" * 20_000)
    assert [(one.text, one.line) for one in found(tmp_path / name)] == [("A dog.", 2), ("A cat.", 3)]


@each
def test_no_key_of_metadata_is_taken_for_a_column(tmp_path: Path, suffix: str) -> None:
    metadata = {"text": "x", "language": "fr", "lang": "fr", "group": "x", "de": "y"}
    column = metadata if suffix == "jsonl" else json.dumps(metadata)
    rows = [{"text": "A dog.", "language": "en", "group": "g", "metadata": column}]
    (sentence,) = found(WRITERS[suffix](tmp_path / f"x.{suffix}", rows))
    assert sentence[1:3] + sentence[4:6] == ("A dog.", "en", metadata, "g")
    (sentence,) = found(WRITERS[suffix](tmp_path / f"y.{suffix}", [{"en": "A dog.", "metadata": column}]))
    assert sentence[1:3] + sentence[4:5] == ("A dog.", "en", metadata)


@given(st.text(st.sampled_from('a" b\u200f\\')), st.text(), st.text(st.characters(exclude_categories=["Cs"])))
@example('"a ""b"" c"', "a  b", " Hello  world\u200f ")
def test_what_is_written_as_a_table_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, text: str, name: str, value: str
) -> None:
    name = "".join(filter(str.isprintable, name)) or "1"
    sentence = Sentence(name, clean(text), "en", 2, {"target_text": value} if value else {}, "g")
    path = tmp_path_factory.getbasetemp() / "written.tsv"
    with path.open("w", encoding="utf-8") as file:
        write_tsv(file, [[sentence]])
    assert found(path) == [sentence]
