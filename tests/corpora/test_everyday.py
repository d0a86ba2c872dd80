"""The shipped scenes and sayings pass corpora/check.py, which finds what is wrong with a folder."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from corpora.check import SAYING_LINES, main
from index.build.probes import SAYINGS
from index.encoder.text_encoder import TextEncoder
from tests.files import write_lines

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "corpora" / "everyday"
LANGUAGES = {"en", "de", "pt", "zh", "ar", "tr", "fr", "cs", "es", "uk", "hi"}


def check(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of four languages, to be spoilt."""
    copy = tmp_path / "scenes"
    copy.mkdir()
    for language in ("en", "es", "zh", "hi"):
        shutil.copy(FOLDER / f"{language}.txt", copy)
    return copy


@pytest.mark.slow
def test_the_shipped_entries_have_no_problem() -> None:
    done = check()
    assert done.exit_code == 0, done.output
    assert {path.stem for path in FOLDER.glob("*.txt")} == LANGUAGES
    assert f"{len(LANGUAGES)} languages, 2206 entries, 0 problems" in done.output


# A line of a file, what is written there, and what is said of it.
WRONG = [
    ("en", 7, "Ein kleiner Hund schläft.", "not of en: ä"),
    ("en", 8, "A dog sleeps", "must end in '.'"),
    ("en", 11, "A dog  sleeps.", "spaces"),
    ("en", 12, "", "empty"),
    ("en", 13, "A " + "very " * 20 + "old dog sleeps.", "longer than"),
    ("en", 900, "A dog runs on the beach.", "the same as line 1"),
    ("en", 901, "A dog runs at the beach.", "nearly the same as line 1"),
    ("zh", 1, "A dog runs on the beach.", "the same as en.txt:1"),
    ("zh", 9, "一只狗在沙灘上.奔跑。", "not of zh: ."),
    ("hi", 9, "१ कुत्ता दौड़ रहा है।", "not of hi: १"),
    ("hi", 10, "एक बिल्ली सो रही है.", "not of hi: ."),
    ("en", 902, "Is a dog on the beach?", "not of en: ?"),
    ("en", 1254, "Where is the train station?", "the same as line 980"),
    ("en", 1000, "Where, oh? Where is it?", "must end in"),
    ("en", 1001, "Where is it", "must end in '.' or '?' or '!'"),
    ("es", 1000, "Dónde está?", "must begin with '¿'"),
    ("zh", 1000, "车站在哪里?", "not of zh: ?"),
]


@pytest.mark.slow
def test_it_finds_what_is_wrong(folder: Path) -> None:
    for language in ("en", "es", "zh", "hi"):
        lines = lines_of(language)
        for code, line, text, _ in WRONG:
            if code == language:
                lines[line - 1] = text
        write_lines(folder / f"{language}.txt", lines)
    done = check(str(folder))
    assert done.exit_code == 1
    said = done.output
    assert [one for code, line, _, one in WRONG if f"{code}.txt:{line}: {one}" not in said] == []


def test_the_shipped_encoder_knows_all_languages_which_are_indexed(open_encoder: TextEncoder) -> None:
    known = set(open_encoder.bundle.manifest.languages)
    assert known >= {path.stem for path in FOLDER.glob("*.txt")} == LANGUAGES


def lines_of(language: str) -> list[str]:
    return (FOLDER / f"{language}.txt").read_text("utf-8").splitlines()


def test_the_check_and_the_probes_have_the_same_sayings() -> None:
    assert (SAYINGS.start + 1, SAYINGS.stop) == SAYING_LINES


@pytest.mark.slow
@pytest.mark.parametrize("lines", [slice(SAYINGS.start), slice(SAYINGS.stop, None)])
def test_line_i_is_the_same_scene_in_the_languages_that_the_encoder_knows(
    open_encoder: TextEncoder, lines: slice
) -> None:
    vectors = {language: open_encoder.encode(lines_of(language)[lines][::4]) for language in LANGUAGES}
    english = vectors.pop("en")
    for language, found in vectors.items():
        scores = found @ english.T
        right = (scores.argmax(axis=1) == range(len(english))).mean()
        assert right > 0.8, (language, right)  # a file that is shifted by a line has 0


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_what_people_ask_in_one_language_they_ask_in_all(language: str) -> None:
    def asks(line: str) -> bool:
        return line.endswith(("?", "？", "؟"))

    pairs = list(zip(lines_of("en")[SAYINGS], lines_of(language)[SAYINGS], strict=True))
    unlike = [pair for pair in pairs if asks(pair[0]) != asks(pair[1])]
    assert len(unlike) <= 5, unlike  # a file that is shifted by a line has over a hundred
