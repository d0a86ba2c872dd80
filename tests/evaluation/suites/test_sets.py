from pathlib import Path

import pytest

from evaluation.suites.sets import (
    MAX_LINES,
    TRANSLATION_KIND,
    CaptionLine,
    available,
    line_up,
    read_aligned,
    read_captions,
    read_split,
)
from index.errors import DataError
from tests.files import write_lines


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for language in ("en", "de", "zh-Hant"):
        write_lines(tmp_path / f"{language}.txt", [f"  one {language} ", f"two\u2028lines {language}"])
    write_lines(tmp_path / "images.txt", ["1.jpg", "2.jpg"])
    return tmp_path


def test_languages_are_those_of_the_folder_that_the_encoder_knows(folder: Path) -> None:
    assert available(folder, ".txt", {"en", "de", "pt"}) == ["de", "en"]


def test_missing_languages_are_refused(folder: Path) -> None:
    with pytest.raises(DataError, match="two languages in common"):
        available(folder, ".txt", {"en", "pt"})
    with pytest.raises(DataError, match="is not a folder"):
        available(folder / "nowhere", ".txt", {"en"})
    with pytest.raises(DataError, match=r"pt\.txt cannot be read \(No such file or directory\)"):
        read_aligned(folder, ["pt"])


def test_lines_are_stripped_and_only_line_feeds_end_them(folder: Path) -> None:
    assert read_aligned(folder, ["en", "de"]) == {
        "en": ["one en", "two\u2028lines en"],
        "de": ["one de", "two\u2028lines de"],
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"eins\n", r"differ in lines \(en 2, de 1\)"),
        (b"eins\n  \ndrei\n", r"de\.txt line 2 is empty"),
        (b"ok\n\xff\xfe\n", r"de\.txt is not UTF-8 \(byte 3\)"),
    ],
)
def test_a_file_that_cannot_be_aligned_is_refused(folder: Path, content: bytes, said: str) -> None:
    (folder / "de.txt").write_bytes(content)
    with pytest.raises(DataError, match=said):
        read_aligned(folder, ["en", "de"])


def test_too_many_lines_are_refused(folder: Path) -> None:
    for language in ("en", "de"):
        write_lines(folder / f"{language}.txt", ["line"] * (MAX_LINES + 1))
    with pytest.raises(DataError, match="5001 lines, 5000 at most"):
        read_aligned(folder, ["en", "de"])


def test_captions_and_splits(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "en.tsv", ["1.jpg\tA dog.\thuman", "1.jpg\tA brown dog.\tmachine"])
    assert read_captions(path) == [
        CaptionLine("1.jpg", "A dog.", "human"),
        CaptionLine("1.jpg", "A brown dog.", "machine"),
    ]
    splits = write_lines(tmp_path / "splits.tsv", ["1.jpg\ttrain", "2.jpg\ttest", "3.jpg\ttest"])
    assert read_split(splits, "test") == {"2.jpg", "3.jpg"}
    with pytest.raises(DataError, match="no image is in split 'dev'"):
        read_split(splits, "dev")


@pytest.mark.parametrize("line", ["1.jpg\tA dog.", "1.jpg\tA dog.\thuman\t", "1.jpg\t\thuman", ""])
def test_a_malformed_caption_is_refused_by_its_line(tmp_path: Path, line: str) -> None:
    path = write_lines(tmp_path / "en.tsv", ["1.jpg\tA dog.\thuman", line, "2.jpg\tA cat.\thuman"])
    with pytest.raises(
        DataError, match=r"en\.tsv line 2: . columns, give image TAB caption TAB how it was made"
    ):
        read_captions(path)


def rows(*triples: tuple[str, str, str]) -> list[CaptionLine]:
    return [CaptionLine(*triple) for triple in triples]


def test_captions_line_up_by_image() -> None:
    captions = {
        "en": rows(("1", "a", "human"), ("1", "b", "human"), ("2", "c", "human"), ("3", "d", "human")),
        "de": rows(
            ("3", "x", "human"), ("3", "y", TRANSLATION_KIND), ("1", "z", "human"), ("4", "w", "human")
        ),
    }
    texts = line_up(captions, {"1", "2", "3", "4"})
    assert sorted(zip(texts["en"], texts["de"], strict=True)) == [("a", "z"), ("d", "y")]
    assert line_up(captions, {"3"}) == {"en": ["d"], "de": ["y"]}
    assert line_up(captions, {"2"}) == {"en": [], "de": []}


def test_a_sample_is_the_start_of_a_fixed_random_order() -> None:
    captions = {code: rows(*((f"{i}.jpg", str(i), "human") for i in range(50))) for code in ("en", "de")}
    images = {f"{i}.jpg" for i in range(50)}
    every = line_up(captions, images)["en"]
    assert every != sorted(every, key=int)
    assert line_up(captions, images, limit=10)["en"] == every[:10]
    assert line_up({code: found[::-1] for code, found in captions.items()}, images)["en"] == every
