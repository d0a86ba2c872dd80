"""Vectors in Milvus: the answers of files, versions that come and go with their manifests, a Milvus away."""

import contextlib
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index.answers.answer import DIGITS
from index.answers.translator import Translator
from index.build.build_index import build_index
from index.build.changes import change_index
from index.build.maintenance import collect, roll_back, verify_version
from index.encoder.bundle import Bundle
from index.errors import BundleError, DamagedError, StoreError, UsageError
from index.formats.registry import Source
from index.storage.index_manifest import SearchSettings
from index.storage.options import Options
from index.storage.versions import manifest_of, open_version, versions
from index.vectors import milvus
from index.vectors.milvus import Connection, MilvusIndex, connect, uri_of
from index.vectors.tuning import recall
from index.vectors.vector_index import VectorIndex
from passepartout import run
from tests.bundles import make_corpus, sentences
from tests.conftest import Fails
from tests.milvus_server import MilvusServer
from tests.waiting import until

QUESTIONS = sentences("en")[5::40]
ONE_DIGIT = 1.01 * 10**-DIGITS  # what is rounded may fall to either side


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_corpus(tmp_path_factory.mktemp("corpus"), ("en", "de"), count=300)


@pytest.fixture(scope="module")
def files(bundle: Bundle, corpora: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of files, to compare with."""
    folder = tmp_path_factory.mktemp("files")
    build_index(bundle, corpora, folder)
    return folder


@pytest.fixture(scope="module")
def stored(
    bundle: Bundle,
    corpora: dict[str, Path],
    milvus_server: MilvusServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The same in Milvus. Not to be changed."""
    folder = tmp_path_factory.mktemp("stored")
    build_index(bundle, corpora, folder, options=Options(store=milvus_server.address))
    return folder


def collections(address: str) -> set[str]:
    return set(connect(address).call("list_collections"))


def named(index: Path) -> set[str]:
    """The collections that the versions of an index name."""
    manifests = [manifest_of(index, version) for version in versions(index)]
    entries = [entry for manifest in manifests for entry in manifest.languages.values()]
    return {entry.search.collection for entry in entries} - {""}


def vectors(index: Path, code: str) -> MilvusIndex:
    manifest = open_version(index)[1]
    entry = manifest.languages[code]
    return MilvusIndex(manifest.options.store or "", entry.sentences, manifest.dimension, entry.search)


def everything(index: VectorIndex) -> np.ndarray:
    return index.reconstruct(range(len(index)))


def test_answers_are_those_of_files(files: Path, stored: Path) -> None:
    own, other = Translator.open(files), Translator.open(stored)
    wanted = own.sentences(QUESTIONS, "en", "de", 10)
    found = other.sentences(QUESTIONS, "en", "de", 10)
    rows = [
        np.array([[int(match.id[3:]) for match in row] for row in answers]) for answers in (found, wanted)
    ]
    assert recall(*rows) >= 0.99
    for one, two in zip(found, wanted, strict=True):
        assert [match.score for match in one] == pytest.approx([match.score for match in two], abs=ONE_DIGIT)
        assert one[0].confidence == pytest.approx(two[0].confidence, abs=ONE_DIGIT)


def test_the_index_has_everything_except_the_vectors(
    files: Path, stored: Path, milvus_server: MilvusServer
) -> None:
    plain, manifest = open_version(files)[1], open_version(stored)[1]
    assert manifest.options.store == milvus_server.address
    assert manifest.languages["de"].search.store == "milvus"
    assert manifest.languages["de"].search.recall == 1.0
    ours, theirs = set(manifest.files.items()), set(plain.files.items())
    assert {name for name, _ in theirs - ours} == {"de.faiss", "en.faiss"}
    assert manifest.quality == plain.quality
    np.testing.assert_array_equal(
        everything(vectors(stored, "de")), everything(Translator.open(files).sentence_indexes["de"].vectors)
    )
    assert vectors(stored, "de").reconstruct([298, 2]).shape == (2, manifest.dimension)


def test_user_input_reaches_milvus_only_as_numbers(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []
    call = Connection.call

    def noted(self: Connection, method: str, *values: Any, **named: Any) -> Any:  # noqa: ANN401
        asked.append((method, *values, named))
        return call(self, method, *values, **named)

    monkeypatch.setattr(Connection, "call", noted)
    translator = Translator.open(stored)
    translator.sentences(['dog" or row >= 0 or vector like "zebra%'], "en", "de", 3)
    assert {"search", "query"} <= {one[0] for one in asked}
    assert not [one for one in asked if "zebra" in repr(one)]
    filters = [one[-1]["filter"] for one in asked if "filter" in one[-1]]
    assert all(re.fullmatch(r"row in \[\d+(, \d+)*\]", found) for found in filters)


def test_many_are_searched_by_a_graph(
    bundle: Bundle,
    corpora: dict[str, Path],
    milvus_server: MilvusServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(milvus, "GRAPH_ROWS", 100)
    made = build_index(bundle, corpora, tmp_path / "index", options=Options(store=milvus_server.address))
    search = made.languages["de"].search
    assert (search.factory, search.parameters) == ("HNSW", "ef=400")
    assert (search.recall or 0) >= 0.99
    queries = Translator.open(tmp_path / "index").encode(QUESTIONS)
    index = vectors(tmp_path / "index", "de")
    exact = np.argsort(-queries @ everything(index).T, axis=1)[:, :10]
    assert recall(index.search(queries, 10)[1], exact) >= 0.99


def test_a_version_has_its_collections_until_it_is_gone(
    bundle: Bundle, corpora: dict[str, Path], milvus_server: MilvusServer, tmp_path: Path
) -> None:
    index, before = tmp_path / "index", collections(milvus_server.address)
    first = build_index(bundle, corpora, index, options=Options(store=milvus_server.address))
    made = collections(milvus_server.address) - before
    assert made == named(index)
    assert len(made) == 2
    (tmp_path / "x.jsonl").write_text('{"id": "2", "de": "Ein Hund."}\n', "utf-8")
    second = change_index(index, delete=["de:1", "en:5"], replace=[Source(tmp_path / "x.jsonl")])
    assert collections(milvus_server.address) - before == named(index) > made
    assert second.options.store == milvus_server.address
    assert len(everything(vectors(index, "de"))) == 299
    assert Translator.open(index).sentences(["Ein Hund."], "de", "en", 1)[0][0].id != "en:5"
    assert roll_back(index) == first.version
    assert len(vectors(index, "de")) == 300
    third = build_index(bundle, corpora, index)
    assert third.languages["de"].search.store == "faiss"
    gone = named(index) - made
    assert second.version in versions(index)
    collect(index, keep=1)
    assert versions(index) == [third.version]
    assert collections(milvus_server.address) & (made | gone) == set()


def test_a_copy_drops_nothing_of_the_original(
    bundle: Bundle, corpora: dict[str, Path], stored: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(stored, tmp_path / "copy", ignore=shutil.ignore_patterns("work"))
    build_index(bundle, corpora, copy)
    collect(copy, keep=1)
    assert len(vectors(stored, "de")) == 300


def test_the_remains_of_a_killed_build_are_dropped(
    bundle: Bundle,
    corpora: dict[str, Path],
    milvus_server: MilvusServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index, before = tmp_path / "index", collections(milvus_server.address)
    write = milvus.write_milvus

    def killed(vectors: np.ndarray, code: str, *given: Any) -> SearchSettings:  # noqa: ANN401
        settings = write(vectors, code, *given)
        if code == "de":
            raise KeyboardInterrupt
        return settings

    monkeypatch.setattr(milvus, "write_milvus", killed)
    with pytest.raises(KeyboardInterrupt):
        build_index(bundle, corpora, index, options=Options(store=milvus_server.address))
    assert versions(index) == []
    left = collections(milvus_server.address) - before
    assert len(left) == 2
    monkeypatch.setattr(milvus, "write_milvus", write)
    build_index(bundle, corpora, index, options=Options(store=milvus_server.address))
    assert not named(index) & left
    assert set(collect(index)) == left
    assert collections(milvus_server.address) - before == named(index)


def test_a_collection_that_lacks_rows_is_refused(
    bundle: Bundle, corpora: dict[str, Path], milvus_server: MilvusServer, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    build_index(bundle, corpora, index, options=Options(store=milvus_server.address))
    assert run(["index", "verify", str(index)]) == 0
    name = open_version(index)[1].languages["de"].search.collection
    connection = connect(milvus_server.address)
    connection.call("delete", name, ids=[7])
    with pytest.raises(BundleError):
        verify_version(index)
    connection.call("drop_collection", name)
    with pytest.raises(DamagedError, match=f"has 0 of 300 vectors in {name}: serve another version"):
        Translator.open(index)


def test_an_unreachable_milvus_is_one_line_and_soon(
    stored: Path,
    milvus_server: MilvusServer,
    monkeypatch: pytest.MonkeyPatch,
    fails: Fails,
) -> None:
    query = vectors(stored, "de").reconstruct([0])
    monkeypatch.setattr(milvus, "QUERY_SECONDS", 2.0)
    index = vectors(stored, "de")
    milvus_server.freeze()
    began = time.monotonic()
    with pytest.raises(StoreError, match="Deadline Exceeded: is it running"):
        index.search(query, 3)
    assert time.monotonic() - began < 5
    with pytest.raises(StoreError, match="did not answer just now"):
        index.search(query, 3)
    milvus_server.thaw()
    monkeypatch.setattr(milvus, "FAILURE_PAUSE", 0)
    eventually(lambda: index.search(query, 3)[1][0, 0] == 0)
    milvus_server.kill()
    with pytest.raises(StoreError) as caught:
        index.search(query, 3)
    assert "\n" not in str(caught.value)
    assert "is it running?" in fails("index", "verify", stored, code=1)
    milvus_server.start()
    eventually(lambda: index.search(query, 3)[1][0, 0] == 0)


def eventually(act: Callable[[], bool]) -> None:
    """Fail unless it is true in the end; a busy machine may answer after our patience."""

    def is_true() -> bool:
        with contextlib.suppress(StoreError):
            return act()
        return False

    until(is_true, "Milvus does not answer again")


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("milvus://db.example.org:19530", "http://db.example.org:19530"),
        ("milvus+tls://[::1]:443/", "https://[::1]:443"),
    ],
)
def test_addresses(text: str, uri: str) -> None:
    assert uri_of(text) == uri


@pytest.mark.parametrize(
    "text",
    ["milvus://host", "milvus://host:99999", "http://host:19530", "milvus://host:1/x", "milvus://./x.db", ""],
)
def test_an_invalid_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a Milvus server: give milvus://HOST:PORT"):
        uri_of(text)


def test_a_password_has_no_place_in_an_address() -> None:
    with pytest.raises(UsageError, match="belongs into PASSEPARTOUT_MILVUS_TOKEN") as caught:
        uri_of("milvus://root:hunter2@host:19530")
    assert "hunter2" not in str(caught.value)


def test_a_token_is_sent_where_the_user_says_and_not_where_an_index_says(
    stored: Path, milvus_server: MilvusServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSEPARTOUT_MILVUS_TOKEN", "root:hunter2")
    with pytest.raises(
        UsageError, match="is set, but not for which server: set PASSEPARTOUT_MILVUS="
    ) as caught:
        Translator.open(stored)
    assert "hunter2" not in str(caught.value)
    monkeypatch.setenv("PASSEPARTOUT_MILVUS", milvus_server.address)
    Translator.open(stored)
    assert connect("milvus://elsewhere:1")._client._config.token == "root:hunter2"
    assert not any(b"hunter2" in path.read_bytes() for path in stored.rglob("*") if path.is_file())
