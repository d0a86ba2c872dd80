"""The shipped everyday scenes pass corpora/check.py, which finds what is wrong with a folder."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from index.encoder.bundle import open_bundle
from index.encoder.text_encoder import TextEncoder

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "corpora" / "everyday"
LANGUAGES = {"en", "de", "pt", "zh", "ar", "tr", "fr", "cs", "es", "uk", "hi"}


def check(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "corpora" / "check.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of three languages, to be spoilt."""
    copy = tmp_path / "scenes"
    copy.mkdir()
    for language in ("en", "zh", "hi"):
        shutil.copy(FOLDER / f"{language}.txt", copy)
    return copy


def test_the_shipped_scenes_have_no_problem() -> None:
    done = check()
    assert done.returncode == 0, done.stdout
    assert {path.stem for path in FOLDER.glob("*.txt")} == LANGUAGES
    assert f"{len(LANGUAGES)} languages, 320 scenes, 0 problems" in done.stdout


def replace(line: int, by: str) -> Callable[[list[str]], None]:
    def change(lines: list[str]) -> None:
        lines[line - 1] = by

    return change


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("en", replace(7, "Ein kleiner Hund schläft."), "en.txt:7: not of en: ä"),
        ("en", replace(7, "A dog sleeps"), "en.txt:7: must end in '.'"),
        ("en", replace(7, "A dog  sleeps."), "en.txt:7: spaces"),
        ("en", replace(7, ""), "en.txt:7: empty"),
        ("en", replace(7, "A " + "very " * 20 + "old dog sleeps."), "en.txt:7: longer than"),
        ("en", replace(320, "A dog runs on the beach."), "en.txt:320: the same as line 1"),
        ("en", replace(320, "A dog runs at the beach."), "en.txt:320: nearly the same as line 1"),
        ("zh", replace(1, "A dog runs on the beach."), "zh.txt:1: the same as en.txt:1"),
        ("zh", replace(9, "一只狗在沙灘上.奔跑。"), "zh.txt:9: not of zh: ."),
        ("hi", replace(9, "१ कुत्ता दौड़ रहा है।"), "hi.txt:9: not of hi: १"),
        ("hi", replace(9, "एक बिल्ली सो रही है."), "hi.txt:9: not of hi: ."),
        ("hi", lambda lines: lines.pop(), "not equally many lines: en 320, hi 319, zh 320"),
    ],
)
def test_it_finds(folder: Path, file: str, change: Callable[[list[str]], None], said: str) -> None:
    path = folder / f"{file}.txt"
    lines = path.read_text("utf-8").splitlines()
    change(lines)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    done = check(folder)
    assert done.returncode == 1
    assert said in done.stdout


def test_too_few_scenes_and_text_that_is_not_utf8(folder: Path) -> None:
    assert "320 scenes, 321 are wanted" in check(folder, "--scenes", "321").stdout
    (folder / "en.txt").write_bytes(b"A dog\xff.\n")
    assert "en.txt: not UTF-8 at byte 5" in check(folder).stdout
    (folder / "xx.txt").write_text("Hm.\n", "utf-8")
    assert "add them to LETTERS" in check(folder).stdout


def test_it_finds_copies(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    lines = (folder / "en.txt").read_text("utf-8").splitlines()
    copied = lines[8].replace(".", " .").upper()
    near = lines[9].replace("old", "very old")
    (other / "en.tsv").write_text(f"1.jpg\t{copied}\n2.jpg\t{near}\n3.jpg\t{lines[0]}\n", "utf-8")
    done = check(folder, "--against", other, "--common", "1")
    assert done.returncode == 1
    assert [re.match(r"[^ ]+ [^ ]+ ?[^ ]*", line)[0] for line in done.stdout.splitlines()[:2]] == [  # type: ignore[index]
        "(to judge) en.txt:10:",
        "en.txt:9: a copy",
    ]
    assert check(folder, "--against", other, "--common", "1", "--common", "9").returncode == 0


def test_what_is_indexed_is_what_the_shipped_encoder_knows() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (indexed,) = re.findall(r"^LANGUAGES := (.*)$", makefile, re.MULTILINE)
    known = set(json.loads((ROOT / "models/small/manifest.json").read_text("utf-8"))["languages"])
    assert set(indexed.split()) == known & LANGUAGES


def test_line_i_is_the_same_scene_in_the_languages_that_the_encoder_knows() -> None:
    bundle = open_bundle(ROOT / "models" / "small")
    encoder = TextEncoder(bundle)
    vectors = {
        language: encoder.encode((FOLDER / f"{language}.txt").read_text("utf-8").splitlines())
        for language in LANGUAGES & set(bundle.manifest.languages)
    }
    english = vectors.pop("en")
    for language, found in vectors.items():
        scores = found @ english.T
        right = (scores.argmax(axis=1) == range(len(english))).mean()
        assert right > 0.3, (language, right)  # a file that is shifted by a line has 0
