"""Whatever happens to the files of a version that is served; the files are those that a build makes."""

import json
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any
from urllib.request import Request, urlopen

import pytest

from index.storage.versions import VERSIONS, current
from tests.damage import empty
from tests.service.server import serving

TEXT = "A small dog runs on the beach."
PAIR = {"source": "en", "target": "de", "min_confidence": 0}
SEEN = {"include": ["near", "pictograms"], "k": 3}
# Together they read every file of a version that any request reads.
QUESTIONS: tuple[tuple[str, Mapping[str, Any] | None], ...] = (
    ("/translate/sentence", {"text": TEXT, **PAIR, **SEEN}),
    ("/translate/sentence", {"text": TEXT, **PAIR}),
    ("/translate/sentence", {"text": TEXT, "target": ["de", "zh", "ar", "pt"]}),
    ("/translate/word", {"word": "dog", **PAIR, **SEEN}),
    ("/translate/word", {"word": "dog", **PAIR}),
    ("/detect", {"q": TEXT}),
    ("/languages", None),
    ("/concordance?source=en&text=dog", None),
    ("/teach/pictures", None),
)


@dataclass(frozen=True)
class Served:
    """A server and the files of its version, by whether the server has mapped them."""

    address: str
    process: "subprocess.Popen[str]"
    mapped: list[Path]
    read: list[Path]

    def answers(self) -> list[Any]:
        return [ask(self.address + path, body) for path, body in QUESTIONS]


def ask(url: str, body: Mapping[str, Any] | None) -> Any:  # noqa: ANN401
    headers = {"Content-Type": "application/json"}
    request = Request(url, None if body is None else json.dumps(body).encode(), headers)
    with urlopen(request, timeout=30) as answer:
        return json.load(answer)


@contextmanager
def serving_files(index: Path) -> Iterator[Served]:
    """A service that nobody has asked yet, so that what it reads only then shows."""
    with serving(index) as (address, process):
        maps = Path(f"/proc/{process.pid}/maps").read_text("utf-8")
        files = sorted(path for path in (index / VERSIONS / current(index)).rglob("*") if path.is_file())
        mapped = [path for path in files if f"{path}\n" in maps]
        yield Served(address, process, mapped, [path for path in files if path not in mapped])


@pytest.fixture(scope="module")
def pristine(index_dir: Path) -> Iterator[Served]:
    """A service whose files nobody touches."""
    with serving_files(index_dir) as server:
        yield server


@pytest.fixture
def served(index_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A service whose files may be harmed."""
    monkeypatch.setenv("PASSEPARTOUT_CACHE_BYTES", "0")
    with serving_files(copytree(index_dir, tmp_path / "index")) as server:
        yield server


def test_files_that_are_not_mapped_may_change_in_place(served: Served, pristine: Served) -> None:
    for path in served.read:
        empty(path)
    assert served.answers() == pristine.answers()


def test_all_files_may_be_replaced_and_removed(served: Served, pristine: Served) -> None:
    files = served.mapped + served.read
    for path in files:
        draft = path.with_name(f"{path.name}.draft")
        draft.write_bytes(bytes(path.stat().st_size))
        draft.replace(path)
    assert served.answers() == pristine.answers()
    for path in files:
        path.unlink()
    assert served.answers() == pristine.answers()
    served.process.send_signal(signal.SIGTERM)
    _, log = served.process.communicate(timeout=20)
    assert served.process.returncode == 0
    assert "Traceback" not in log
