"""Which format a file is, and which of its sentences belong to a language."""

from pathlib import Path

import pytest

from index.errors import CorpusError, UsageError
from index.formats.registry import Source, check_names, format_of, read


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("x.txt", "txt"),
        ("x", "txt"),
        ("x.unknown", "txt"),
        ("x.tsv.gz", "tsv"),
        ("x.CSV", "csv"),
        ("x.jsonl.zst", "jsonl"),
        ("x.ndjson", "jsonl"),
        ("x.tmx.xz", "tmx"),
        ("x.xlf", "xliff"),
        ("x.po.bz2", "po"),
        ("europarl.de-en.de", "moses"),
        ("europarl.de-en.en.gz", "moses"),
    ],
)
def test_the_extension_says_the_format(name: str, wanted: str) -> None:
    assert format_of(Source(Path(name))).name == wanted
    assert format_of(Source(Path(name), format="tsv")).name == "tsv"


@pytest.mark.parametrize(("root", "wanted"), [("tmx", "tmx"), ("xliff", "xliff"), ("html", "html")])
def test_xml_formats_are_recognised_by_their_root(tmp_path: Path, root: str, wanted: str) -> None:
    (tmp_path / "x.xml").write_text(f"<?xml version='1.0'?><!DOCTYPE {root}><{root}></{root}>")
    assert format_of(Source(tmp_path / "x.xml")).name == wanted


@pytest.mark.parametrize("content", ["<TS/>", "no xml", ""])
def test_other_xml_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.xml").write_text(content)
    with pytest.raises(CorpusError, match="is not one of <tmx>, <xliff>, "):
        format_of(Source(tmp_path / "x.xml"))


def test_moses_pairs_are_aligned_by_line(tmp_path: Path) -> None:
    (tmp_path / "c.en").write_text("A dog.\n\nA cat.\n")
    (tmp_path / "c.de").write_text("Ein Hund.\n\nEine Katze.\n")
    english, german = (list(read(Source(tmp_path / f"c.{code}"))) for code in ("en", "de"))
    assert [sentence.group for sentence in english] == [sentence.group for sentence in german]
    assert len({sentence.group for sentence in english}) == 3
    assert [sentence.language for sentence in german] == ["de"] * 3


def test_files_of_one_name_are_refused_where_groups_would_mix() -> None:
    one, two = Source(Path("a/m.tmx")), Source(Path("b/m.tmx"))
    with pytest.raises(UsageError, match="the same name: rename one"):
        check_names([one, two])
    with pytest.raises(UsageError, match="the same name: give the language of each, LANG=FILE"):
        check_names([Source(Path("en/app.json")), Source(Path("de/app.json"))])
    check_names(
        [one, Source(Path("a/m.tmx"), "de"), Source(Path("a/x.txt"), "en"), Source(Path("b/x.txt"), "de")]
    )
