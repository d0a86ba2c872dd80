"""The commands `encode`, `index build | info | verify`, through the front door; what a build skips."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from index.encoder.bundle import Bundle
from tests.bundles import make_corpus, sentences
from tests.conftest import Fails, Says
from tests.damage import flip_middle


def build(bundle: Bundle, folder: Path, *more: str) -> list[str]:
    corpora = make_corpus(folder / "corpus", ("en", "de"), 40)
    given = [f"--corpus={code}={path}" for code, path in corpora.items()]
    return ["index", "build", "--encoder", str(bundle.folder), *given, "--out", str(folder / "index"), *more]


def test_build_ends_with_counts_and_the_version(bundle: Bundle, tmp_path: Path, says: Says) -> None:
    captured = says(*build(bundle, tmp_path))
    version = (tmp_path / "index" / "CURRENT").read_text().strip()
    assert captured.out.splitlines() == [
        "en: 40 sentences, 28 words (40 lines)",
        "de: 40 sentences, 28 words (40 lines)",
        f"{tmp_path / 'index'}: version {version}, encoder tiny@1, confidence: encoder",
    ]
    assert "bytes (" in captured.err
    assert "neighbourhoods" in captured.err


def test_build_and_info_speak_json(bundle: Bundle, tmp_path: Path, says: Says) -> None:
    (tmp_path / "fresh").mkdir()
    built = json.loads(says(*build(bundle, tmp_path / "fresh", "--json")).out)
    assert json.loads(says("index", "info", tmp_path / "fresh" / "index", "--json").out) == built
    assert built["languages"]["en"]["sentences"] == 40
    assert built["model"] == "tiny@1"
    assert "files" not in built


@pytest.mark.parametrize(
    ("corpora", "words"),
    [
        (["fr=x.txt"], ["does not know 'fr'"]),
        (["en=x.txt", "en=x.txt"], ["--corpus x.txt is given twice"]),
        (["x.txt"], ["x.txt: plain text does not say its language", "--corpus LANG="]),
        (["=x.txt"], ["is not LANG=FILE"]),
        (["en="], ["is not LANG=FILE"]),
        (["en=none.txt"], ["none.txt", "cannot be read"]),
        (["en=bad.txt"], ["bad.txt, line 2", "not UTF-8"]),
        (["en=empty.txt"], ["empty.txt", "no sentence"]),
        (["c.en", "c.de"], ["c.de: 1 lines, but c.en has 2"]),
        ([], ["--corpus"]),
    ],
)
def test_build_refuses_in_one_line_with_exit_2(
    bundle: Bundle,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fails: Fails,
    corpora: list[str],
    words: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.txt").write_text("A dog.\n")
    Path("empty.txt").write_text("\n")
    Path("bad.txt").write_bytes(b"A dog.\n\xff\n")
    Path("c.en").write_text("A dog.\nA cat.\n")
    Path("c.de").write_text("Ein Hund.\n")
    given = [part for corpus in corpora for part in ("--corpus", corpus)]
    line = fails("index", "build", "--encoder", bundle.folder, *given, "--out", "index", "--strict")
    assert all(word in line for word in words)
    assert not Path("index/CURRENT").exists()


def test_add_says_what_is_new(index_dir: Path, tmp_path: Path, says: Says) -> None:
    index = shutil.copytree(index_dir, tmp_path / "index")
    (tmp_path / "x.csv").write_text("en,de\nA zebra.,Ein Zebra.\nA crow.,\n", "utf-8")
    (tmp_path / "empty.txt").write_text("")

    def said(*more: str) -> str:
        last: str = says("index", "add", index, *more).out.splitlines()[-1]
        return last

    given = f"--corpus={tmp_path / 'x.csv'}"
    assert said(given) == "new sentences: 2 en, 1 de; dropped: none"
    assert said(given) == "new sentences: none; dropped: 3 duplicate"
    assert said(f"--corpus=en={tmp_path / 'empty.txt'}") == "new sentences: none; dropped: none"
    assert json.loads(said(given, "--json"))["languages"]["de"]["dropped"] == {"duplicate": 2}


def test_verify_passes_and_says_so(index_dir: Path, says: Says) -> None:
    version = (index_dir / "CURRENT").read_text().strip()
    told = says("index", "verify", index_dir).out
    assert f"1 version(s) without damage, {version} is served" in told
    assert json.loads(says("index", "verify", index_dir, "--json").out) == {
        "current": version,
        "versions": [version],
    }


def test_verify_finds_damage_in_one_line_with_exit_1(index_dir: Path, tmp_path: Path, fails: Fails) -> None:
    shutil.copytree(index_dir, tmp_path / "index")
    version = (index_dir / "CURRENT").read_text().strip()
    flip_middle(tmp_path / "index" / "versions" / version / "de.words.faiss")
    assert "de.words.faiss: the checksum" in fails("index", "verify", tmp_path / "index", code=1)


def test_the_number_of_threads_reaches_the_libraries(bundle: Bundle, tmp_path: Path) -> None:
    code = (
        "import sys; from passepartout import run; run(sys.argv[1:])\n"
        "import faiss, os; from threading import Thread\n"
        "told = lambda: print(os.environ['OMP_WAIT_POLICY'], faiss.omp_get_max_threads())\n"
        "Thread(target=told).start()"  # in a new one it is what no call has set
    )
    command = [sys.executable, "-c", code, *build(bundle, tmp_path, "--threads", "2", "--json")]
    free = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "OPENBLAS_"))}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=free)
    assert done.stdout.endswith("\nPASSIVE 2\n")


def test_columns_of_a_table_that_are_no_language_are_named(
    bundle: Bundle, tmp_path: Path, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"A dog {n}.,Ein Hund {n}.,Un hunda {n}.,{'old' if n else ''},{n}" for n in range(12)]
    Path("phrases.csv").write_text("\n".join(["English,German,Selvin,Notes,id", *rows]) + "\n", "utf-8")
    given = ["index", "build", "--encoder", str(bundle.folder), "--out", "index", "--corpus", "phrases.csv"]
    captured = says(*given)
    line = "phrases.csv: kept as metadata: Selvin, Notes; if one is a language, --columns CODE=COLUMN"
    assert [told for told in captured.err.splitlines() if "metadata" in told] == [line]
    assert captured.out.startswith("en: ")
    assert "kept as metadata: Notes;" in says(*given, "--columns", "qel=Selvin").err
    Path("plain.csv").write_text("en,de,id\nA dog.,Ein Hund.,1\n", "utf-8")
    assert "metadata" not in says(*given[:-1], "plain.csv").err


ENGLISH, GERMAN = sentences("en")[::30], sentences("de")[::30]


@pytest.fixture
def builds(bundle: Bundle, tmp_path: Path, says: Says) -> Says:
    """What a build of these corpora into a folder of that name says."""

    def command(name: str, *more: object, code: int = 0) -> Any:  # noqa: ANN401
        given = ["--encoder", bundle.folder, "--out", tmp_path / name, "--threads", "1", *more]
        return says("index", "build", *given, code=code)

    return command


def test_bad_lines_are_skipped_listed_and_refused_if_strict(tmp_path: Path, builds: Says) -> None:
    rows = [f"{one}\t{two}" for one, two in zip(ENGLISH, GERMAN, strict=True)]
    (tmp_path / "x.tsv").write_text("\n".join(["en\tde", *rows, *["one cell"] * 12]) + "\n", "utf-8")
    given = ("--corpus", str(tmp_path / "x.tsv"))
    captured = builds("index", *given)
    assert f"en: {len(rows)} sentences" in captured.out
    skipped = [line for line in captured.err.splitlines() if line.startswith("skipped: ")]
    assert len(skipped) == 10
    assert skipped[0] == f"skipped: x.tsv, line {len(rows) + 2}: 1 cells, but line 1 names 2: fix the line"
    assert "12 bad lines or units were skipped" in captured.err
    assert len((tmp_path / "index.skipped.tsv").read_text("utf-8").splitlines()) == 13
    assert f"line {len(rows) + 2}: 1 cells" in builds("other", *given, "--strict", code=2).err
    assert not (tmp_path / "other").exists() or not list((tmp_path / "other").glob("versions/*"))


def test_nothing_but_bad_lines_is_an_error(tmp_path: Path, builds: Says) -> None:
    (tmp_path / "x.jsonl").write_text("no\nJSON\n", "utf-8")
    assert (
        "x.jsonl, line 1: not JSON" in builds("index", "--corpus", f"en={tmp_path / 'x.jsonl'}", code=2).err
    )


def test_swapped_languages_are_reported(tmp_path: Path, builds: Says) -> None:
    (tmp_path / "x.txt").write_text("\n".join(ENGLISH) + "\n", "utf-8")
    assert (
        "these lines look like English, not German: are languages swapped?"
        in builds("index", "--corpus", f"de={tmp_path / 'x.txt'}", code=2).err
    )
    (tmp_path / "y.txt").write_text("\n".join([*ENGLISH, *GERMAN[:3]]) + "\n", "utf-8")
    told = builds("index", "--corpus", f"de={tmp_path / 'y.txt'}").out
    assert "de: most lines look like English: are languages swapped?" in told
    listing = told.partition("de: what looks like another language is in ")[2].partition(";")[0]
    assert ENGLISH[0] in Path(listing).read_text("utf-8")


def test_columns_on_the_command_line(tmp_path: Path, builds: Says) -> None:
    rows = [f"{one};{two}" for one, two in zip(ENGLISH, GERMAN, strict=True)]
    (tmp_path / "x.csv").write_text("\n".join(["English;German", *rows]) + "\n", "utf-16")
    given = ("--corpus", str(tmp_path / "x.csv"), "--columns", "source=English,target=German")
    assert f"de: {len(rows)} sentences, {len(rows)} aligned units" in builds("index", *given).out
    builds("index", *given[:3], "source=Satz", code=2)
