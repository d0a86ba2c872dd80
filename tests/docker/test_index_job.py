"""docker/index-job with the real command on a tiny bundle."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from index.encoder.bundle import Bundle
from index.storage.versions import current, open_version, versions
from tests.bundles import make_corpus


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    make_corpus(tmp_path / "corpora/everyday", ("en", "de"), count=20)
    (tmp_path / "corpora/everyday/README.md").write_text("Not a corpus.\n", "utf-8")
    (tmp_path / "corpora/phrases").mkdir()
    (tmp_path / "corpora/phrases/phrases.tsv").write_text("topic\ten\tqaa\npain\tIt hurts.\tAu.\n", "utf-8")
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


def test_it_builds_once_for_the_same_sources_and_again_for_others(
    root: Path, bundle: Bundle, corpora: Path, tmp_path: Path
) -> None:
    index, german = tmp_path / "data/index", corpora / "everyday/de.txt"
    lines = german.read_bytes()
    german.write_bytes(b"\xff\n")
    failed = run(root, bundle.folder, corpora, index)
    assert failed.returncode == 2
    assert "de.txt" in failed.stderr
    german.write_bytes(lines)
    (corpora / "everyday/xx.txt").write_text("A language that the bundle does not know.\n" * 20, "utf-8")
    first = run(root, bundle.folder, corpora, index)
    assert first.returncode == 0, first.stderr
    assert "xx.txt is left out" in first.stderr
    assert list(open_version(index)[1].languages) == ["de", "en", "qaa"]
    built = current(index)
    again = run(root, bundle.folder, corpora, index)
    assert (again.returncode, "up to date" in again.stdout) == (0, True)
    assert versions(index) == [built]

    german.write_bytes(lines + b"Ein Boot liegt am Ufer.\n")
    changed = run(root, bundle.folder, corpora, index)
    assert changed.returncode == 0, changed.stderr
    assert versions(index) == [built, current(index)]
    shutil.rmtree(index)
    assert run(root, bundle.folder, corpora, index).returncode == 0
    assert current(index)


def test_without_a_bundle_it_fails_and_names_the_file(root: Path, corpora: Path, tmp_path: Path) -> None:
    failed = run(root, tmp_path / "nothing", corpora, tmp_path / "index")
    assert failed.returncode != 0
    assert "nothing/manifest.json" in failed.stderr
