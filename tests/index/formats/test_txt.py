"""Plain text corpora: streamed, decompressed by extension, errors by line."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.errors import CorpusError
from index.formats.registry import Source, read
from index.formats.streams import LONGEST_LINE, read_lines
from index.text.normalisation import clean


def test_lines_are_numbered_from_one(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes("\ufeffEin Hund\r\n\n  zwei \t Hunde\nlast".encode())
    lines = [(1, "Ein Hund\r\n"), (2, "\n"), (3, "  zwei \t Hunde\n"), (4, "last")]
    assert list(read_lines(tmp_path / "x.txt")) == lines


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n")), max_size=10))
def test_every_line_is_read_once(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    folder = tmp_path_factory.getbasetemp()
    content = "".join(line + "\n" for line in lines).encode()
    (folder / "x.txt").write_bytes(content)
    with gzip.open(folder / "x.txt.gz", "wb") as file:
        file.write(content)
    plain = list(read_lines(folder / "x.txt"))
    assert [(number, clean(line)) for number, line in plain] == list(enumerate(map(clean, lines), start=1))
    assert list(read_lines(folder / "x.txt.gz")) == plain


def test_an_endless_line_is_refused_without_reading_it(tmp_path: Path) -> None:
    with (tmp_path / "x.txt").open("wb") as file:
        file.write(b"one\n")
        file.truncate(1 << 40)  # a hole, not a terabyte
    lines = read_lines(tmp_path / "x.txt")
    assert next(lines) == (1, "one\n")
    with pytest.raises(CorpusError, match=f"line 2: longer than {LONGEST_LINE} characters"):
        next(lines)


def test_the_longest_line_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"a" * (LONGEST_LINE - 1) + b"\nb\n")
    assert [len(text) for _, text in read_lines(tmp_path / "x.txt")] == [LONGEST_LINE, 2]


@pytest.mark.parametrize("name", ["none.txt", "none.txt.gz", "."])
def test_a_missing_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorpusError, match="cannot be read"):
        list(read_lines(tmp_path / name))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('<?xml version="1.0"?>\n<!DOCTYPE TS>\n<TS/>\n', "line 1: markup, not sentences"),
        ("1\n00:00:01,000 --> 00:00:02,000\nA dog.\n", "line 2: time codes.*--format subtitles"),
        ("PK\x03\x04\x00", "line 1: not text"),
    ],
)
@pytest.mark.parametrize("name", ["x.txt", "x.ts", "x"])
def test_what_is_no_sentences_is_refused_with_a_hint(
    content: str, said: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(CorpusError, match=said):
        list(read(Source(tmp_path / name, "en")))
