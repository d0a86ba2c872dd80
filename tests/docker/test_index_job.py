"""docker/index-job with the real command on a tiny bundle."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from index.encoder.bundle import Bundle
from index.storage.versions import current, versions
from tests.bundles import make_corpus


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    make_corpus(tmp_path / "corpora", ("en", "de"), count=20)
    (tmp_path / "corpora/README.md").write_text("Not a corpus.\n", "utf-8")
    return tmp_path / "corpora"


def run(root: Path, bundle: Path, corpora: Path, index: Path) -> subprocess.CompletedProcess[str]:
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        [root / "docker/index-job", bundle, corpora, index],
        env={**os.environ, "PATH": beside},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_it_builds_once_for_the_same_sources(
    root: Path, bundle: Bundle, corpora: Path, tmp_path: Path
) -> None:
    index = tmp_path / "data/index"
    first = run(root, bundle.folder, corpora, index)
    assert first.returncode == 0, first.stderr
    built = current(index)
    again = run(root, bundle.folder, corpora, index)
    assert again.returncode == 0
    assert "up to date" in again.stdout
    assert versions(index) == [built]

    with (corpora / "de.txt").open("a", encoding="utf-8") as file:
        file.write("Ein Boot liegt am Ufer.\n")
    changed = run(root, bundle.folder, corpora, index)
    assert changed.returncode == 0, changed.stderr
    assert versions(index) == [built, current(index)]
    assert current(index) != built


def test_a_build_that_fails_is_tried_again(root: Path, bundle: Bundle, corpora: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    good = (corpora / "de.txt").read_bytes()
    (corpora / "de.txt").write_bytes(b"\xff\n")
    failed = run(root, bundle.folder, corpora, index)
    assert failed.returncode == 2
    assert "de.txt" in failed.stderr
    (corpora / "de.txt").write_bytes(good)
    assert run(root, bundle.folder, corpora, index).returncode == 0
    assert current(index)


def test_a_language_that_the_bundle_lacks_is_left_out(
    root: Path, bundle: Bundle, corpora: Path, tmp_path: Path
) -> None:
    (corpora / "xx.txt").write_text("A language that the bundle does not know.\n", "utf-8")
    done = run(root, bundle.folder, corpora, tmp_path / "index")
    assert done.returncode == 0, done.stderr
    assert "xx.txt is left out" in done.stderr
    info = subprocess.run(
        [Path(sys.executable).parent / "passepartout", "index", "info", tmp_path / "index", "--json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert '"xx"' not in info.stdout
    assert '"de"' in info.stdout


def test_an_index_that_is_gone_is_built_again(
    root: Path, bundle: Bundle, corpora: Path, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    run(root, bundle.folder, corpora, index)
    shutil.rmtree(index)
    assert run(root, bundle.folder, corpora, index).returncode == 0
    assert current(index)


def test_without_a_bundle_it_fails_and_names_the_file(root: Path, corpora: Path, tmp_path: Path) -> None:
    failed = run(root, tmp_path / "nothing", corpora, tmp_path / "index")
    assert failed.returncode != 0
    assert "nothing/manifest.json" in failed.stderr
