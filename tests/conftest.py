"""What every test shares: a cache folder of its own, and a tiny bundle and index made once."""

import gc
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Read by numpy, FAISS and torch when they are imported below: on a shared machine their threads would wait
# for each other in busy loops (a decomposition of 48 x 48 takes 40 ms instead of 1).
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import hypothesis
import pytest

from index.encoder.bundle import Bundle, open_bundle
from passepartout import run
from tests.milvus_server import MilvusServer

if TYPE_CHECKING:
    from index.answers.translator import Translator
    from index.encoder.text_encoder import TextEncoder

# How long an example takes says how busy the machine is, not whether the law holds.
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("house")


# What starts processes, servers or browsers, trains, or takes seconds. A test that uses one is slow, and so
# is every test of a file that imports one.
SLOW_FIXTURES = {"address", "remembering_address", "browser", "cluster", "milvus_server", "redis"}
SLOW_FIXTURES |= {"redis_server", "stage", "few_probes", "noisy", "shipped"}
SLOW_FIXTURES |= {"bag_run", "bag_bundle", "transformer_run", "transformer_bundle", "drawn"}
SLOW_IMPORTS = {"subprocess", "get_context", "run_apart", "serving", "reverse_proxy"}
SLOW_IMPORTS |= {"MilvusServer", "RedisServer", "train", "export_run", "walk"}
SLOW_FILES = {"test_costs.py", "test_filling_costs.py", "test_foreign.py", "test_streams.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make test-fast` leaves out. Files with such tests come first: the others fill the end."""
    for item in items:
        assert isinstance(item, pytest.Function)
        slow = SLOW_FIXTURES & set(item.fixturenames) or SLOW_IMPORTS & vars(item.module).keys()
        if slow or item.path.name in SLOW_FILES:
            item.add_marker("slow")
    first = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in first)


def pytest_collection_finish() -> None:
    """Let Python's collector pass by what imports made: to look through it takes a second, each time."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep checksums that tests verify out of the user's cache. Workers share it, processes inherit it."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
        yield


Fails = Callable[..., str]
Says = Callable[..., Any]  # out and err


@pytest.fixture
def says(capsys: pytest.CaptureFixture[str]) -> Says:
    """What a command that ends with this code prints."""

    def command(*words: object, code: int = 0) -> Any:  # noqa: ANN401
        capsys.readouterr()
        assert run([str(word) for word in words]) == code
        return capsys.readouterr()

    return command


@pytest.fixture
def fails(says: Says) -> Fails:
    """A command ends with this code and says why in one line, after its usage or progress: that line."""

    def command(*words: object, code: int = 2) -> str:
        out, err = says(*words, code=code)
        *before, line = err.splitlines()
        usage = [text for text in before if not re.search(r"\d+/\d+ ", text)]
        assert line.startswith("Error: " if usage else "passepartout: ")
        assert out == ""
        return line

    return command


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """A tiny encoder of en de pt zh ar; see tests/bundles.py. Not to be changed: copy it first."""
    from tests.bundles import make_bundle

    return make_bundle(tmp_path_factory.mktemp("bundle") / "tiny")


@pytest.fixture(scope="session")
def open_encoder() -> "TextEncoder":
    """The encoder that is shipped at models/open."""
    from index.encoder.text_encoder import TextEncoder

    return TextEncoder(open_bundle(Path(__file__).parents[1] / "models" / "open"))


@pytest.fixture(scope="session")
def milvus_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    """A Milvus on this machine. Whoever freezes or kills it brings it back."""
    server = MilvusServer(tmp_path_factory.mktemp("milvus") / "data")
    yield server
    server.thaw()
    server.kill()


@pytest.fixture(scope="session")
def index_dir(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of 200 aligned sentences in each of en de pt zh ar. Not to be changed: copy it first."""
    from index.build.build_index import build_index
    from tests.bundles import make_corpus

    folder = tmp_path_factory.mktemp("index")
    build_index(bundle, make_corpus(folder / "corpus"), folder / "index")
    return folder / "index"


@pytest.fixture(scope="session")
def translator(index_dir: Path) -> "Translator":
    """The translator of that index."""
    from index.answers.translator import Translator

    return Translator.open(index_dir)


@pytest.fixture(scope="module")
def few_probes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A quarter of the texts that confidence is fitted with, for builds with an encoder that is not tiny."""
    from index.build.probes import PROBE_FOLDER, SAYINGS

    folder = tmp_path_factory.mktemp("probes")
    for path in PROBE_FOLDER.glob("[!p]*/*.t[sx][vt]"):
        few = folder / path.parent.name / path.name
        few.parent.mkdir(exist_ok=True)
        lines = path.read_text("utf-8").splitlines(keepends=True)
        few.write_text("".join(lines[: SAYINGS.start : 4]), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("index.build.probes.PROBE_FOLDER", folder)
        yield
