"""The commands `encode`, `index build | info | verify`, through the front door."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from index.encoder.bundle import Bundle
from passepartout import run
from tests.bundles import make_corpus
from tests.conftest import Fails
from tests.damage import flip_middle

Capture = pytest.CaptureFixture[str]


def build(bundle: Bundle, folder: Path, *more: str) -> list[str]:
    corpora = make_corpus(folder / "corpus", ("en", "de"), 40)
    given = [f"--corpus={code}={path}" for code, path in corpora.items()]
    return ["index", "build", "--encoder", str(bundle.folder), *given, "--out", str(folder / "index"), *more]


def test_build_ends_with_counts_and_the_version(bundle: Bundle, tmp_path: Path, capsys: Capture) -> None:
    assert run(build(bundle, tmp_path)) == 0
    captured = capsys.readouterr()
    version = (tmp_path / "index" / "CURRENT").read_text().strip()
    assert captured.out.splitlines() == [
        "en: 40 sentences, 28 words (40 lines)",
        "de: 40 sentences, 28 words (40 lines)",
        f"{tmp_path / 'index'}: version {version}, encoder tiny@1, confidence: encoder",
    ]
    assert "bytes (" in captured.err
    assert "neighbourhoods" in captured.err


def test_build_and_info_speak_json(bundle: Bundle, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "fresh").mkdir()
    assert run(build(bundle, tmp_path / "fresh", "--json")) == 0
    built = json.loads(capsys.readouterr().out)
    assert run(["index", "info", str(tmp_path / "fresh" / "index"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == built
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


def test_add_says_what_is_new(index_dir: Path, tmp_path: Path, capsys: Capture) -> None:
    index = shutil.copytree(index_dir, tmp_path / "index")
    (tmp_path / "x.csv").write_text("en,de\nA zebra.,Ein Zebra.\nA crow.,\n", "utf-8")
    (tmp_path / "empty.txt").write_text("")

    def said(*more: str) -> str:
        assert run(["index", "add", str(index), *more]) == 0
        return capsys.readouterr().out.splitlines()[-1]

    given = f"--corpus={tmp_path / 'x.csv'}"
    assert said(given) == "new sentences: 2 en, 1 de; dropped: none"
    assert said(given) == "new sentences: none; dropped: 3 duplicate"
    assert said(f"--corpus=en={tmp_path / 'empty.txt'}") == "new sentences: none; dropped: none"
    assert json.loads(said(given, "--json"))["languages"]["de"]["dropped"] == {"duplicate": 2}


def test_verify_passes_and_says_so(index_dir: Path, capsys: Capture) -> None:
    version = (index_dir / "CURRENT").read_text().strip()
    assert run(["index", "verify", str(index_dir)]) == 0
    assert f"1 version(s) without damage, {version} is served" in capsys.readouterr().out
    assert run(["index", "verify", str(index_dir), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"current": version, "versions": [version]}


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
    bundle: Bundle, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"A dog {n}.,Ein Hund {n}.,Un hunda {n}.,{'old' if n else ''},{n}" for n in range(12)]
    Path("phrases.csv").write_text("\n".join(["English,German,Selvin,Notes,id", *rows]) + "\n", "utf-8")
    given = ["index", "build", "--encoder", str(bundle.folder), "--out", "index", "--corpus", "phrases.csv"]
    assert run(given) == 0
    line = "phrases.csv: kept as metadata: Selvin, Notes; if one is a language, --columns CODE=COLUMN"
    captured = capsys.readouterr()
    assert [told for told in captured.err.splitlines() if "metadata" in told] == [line]
    assert captured.out.startswith("en: ")
    assert run([*given, "--columns", "qel=Selvin"]) == 0
    assert "kept as metadata: Notes;" in capsys.readouterr().err
    Path("plain.csv").write_text("en,de,id\nA dog.,Ein Hund.,1\n", "utf-8")
    assert run([*given[:-1], "plain.csv"]) == 0
    assert "metadata" not in capsys.readouterr().err
