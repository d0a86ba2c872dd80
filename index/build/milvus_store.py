"""Stage of a build: writes the vectors of a version into collections of Milvus, and tracks the collections.

A version has one collection for each language. Only its LANG.milvus names it, so nobody knows of it until the
version is published. A collection is filled, indexed and counted before LANG.milvus is written, and never
changes afterwards. Before a collection is made, its name is
noted in work/COLLECTIONS, so that `gc` can drop collections that no version names, left by killed builds or
removed versions. This file is not copied with versions to other machines, which therefore drop nothing made
here.
"""

import json
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from index.build.job import Job
from index.build.reading import vectors_of
from index.encoder.vectors import Vectors
from index.errors import DamagedError, StoreError
from index.progress import Progress
from index.search.sentence_index import open_vectors
from index.storage.files import replace_text
from index.storage.index_manifest import IndexManifest, SearchSettings
from index.storage.options import Options
from index.storage.versions import VERSIONS, WORK
from index.vectors.faiss import RECALL_NEIGHBOURS, TARGET_RECALL, foreign_queries, nearest
from index.vectors.milvus import (
    ROW,
    VECTOR,
    Address,
    Connection,
    Held,
    MilvusIndex,
    connect,
    digest,
    parse,
    read_held,
)
from index.vectors.vector_index import ROWS_AT_A_TIME, Rows, recall

COLLECTIONS_FILE = "COLLECTIONS"  # in work/: the collections that were made here
BUILD_PATIENCE = 3600.0  # seconds that a build waits for Milvus
# HNSW (Malkov and Yashunin 2018): links of a row; candidates while building, at first and at most in search.
LINKS, BUILD_WIDTH, SEARCH_WIDTH, WIDEST = 32, 200, 200, 3200
GRAPH_ROWS = 100_000  # with fewer, every vector is compared


def check_reachable(store: str) -> None:
    """Raise StoreError if Milvus does not answer; called before a build starts, which may take hours."""
    connect(parse(store)).call("list_collections")


def put_into_store(job: Job, manifest: IndexManifest, options: Options) -> IndexManifest:
    """Move the sentence vectors of a version from `work` into Milvus; return the manifest that says so.

    With the factory "Flat" every vector is compared; otherwise large languages get a graph. Raises
    StoreError.
    """
    address = parse(options.store or "")
    opened = {
        code: open_vectors(job.work, code, manifest, job.threads)
        for code, entry in manifest.languages.items()
    }
    languages = {}
    for code, entry in manifest.languages.items():
        graph = entry.sentences > GRAPH_ROWS and options.factory != "Flat"
        collection = _collection(job, code, entry.sentences, address, graph)
        queries = foreign_queries(opened, code)
        search = _tuned(collection, graph, queries, nearest(vectors_of(job, code, entry.sentences), queries))
        languages[code] = entry.model_copy(update={"search": search})
    for code in languages:
        job.path(f"{code}.faiss").unlink()
    return manifest.model_copy(update={"languages": languages})


def _tuned(index: MilvusIndex, graph: bool, queries: Vectors, wanted: Rows) -> SearchSettings:
    """Double the candidates of a search in the graph until it finds TARGET_RECALL of the `wanted` rows."""
    index.ef = SEARCH_WIDTH if graph else 0
    while (
        share := recall(index.search(queries, RECALL_NEIGHBOURS)[1], wanted)
    ) < TARGET_RECALL and 0 < index.ef < WIDEST:
        index.ef *= 2
    parameters = f"ef={index.ef}" if graph else ""
    return SearchSettings(
        store="milvus", factory="HNSW" if graph else "Flat", parameters=parameters, recall=share
    )


def _collection(job: Job, code: str, rows: int, address: Address, graph: bool) -> MilvusIndex:
    """Make the collection of a language."""
    path = job.path(f"{code}.milvus")
    connection = connect(address)
    name = f"{address.prefix}_{secrets.token_hex(8)}_{code.replace('-', '_')}"
    _note(job.work.parent, {**_noted(job.work.parent), name: str(address)})
    vectors = vectors_of(job, code, rows)
    _fill(connection, name, vectors, graph, code)
    sha256 = digest(_blocks(vectors))
    held = Held(address=str(address), collection=name, rows=rows, dimension=vectors.shape[1], sha256=sha256)
    index = MilvusIndex(connection, held)
    index.check()
    path.write_text(held.model_dump_json() + "\n", "utf-8")
    return index


def _fill(connection: Connection, name: str, vectors: Vectors, graph: bool, code: str) -> None:
    from pymilvus import DataType, MilvusClient

    schema: Any = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field(ROW, DataType.INT64, is_primary=True)
    schema.add_field(VECTOR, DataType.FLOAT_VECTOR, dim=vectors.shape[1])
    # A complete collection never changes, so readers need not wait for the latest changes.
    connection.call(
        "create_collection", name, schema=schema, consistency_level="Eventually", seconds=BUILD_PATIENCE
    )
    with Progress(len(vectors), unit="vectors", label=f"store {code}") as bar:
        for start, block in zip(range(0, len(vectors), ROWS_AT_A_TIME), _blocks(vectors), strict=True):
            rows = [{ROW: start + place, VECTOR: vector} for place, vector in enumerate(block)]
            connection.call("insert", name, rows, seconds=BUILD_PATIENCE)
            bar.advance(len(rows))
    connection.call("flush", name, seconds=BUILD_PATIENCE)
    index: Any = MilvusClient.prepare_index_params()
    wide = {"M": LINKS, "efConstruction": BUILD_WIDTH} if graph else {}
    index.add_index(VECTOR, index_type="HNSW" if graph else "FLAT", metric_type="IP", params=wide)
    connection.call("create_index", name, index, seconds=BUILD_PATIENCE)
    connection.call("load_collection", name, seconds=BUILD_PATIENCE)


def _blocks(vectors: Vectors) -> Iterator[Vectors]:
    return (vectors[start : start + ROWS_AT_A_TIME] for start in range(0, len(vectors), ROWS_AT_A_TIME))


def verify_collections(folder: Path, manifest: IndexManifest) -> None:
    """Check every vector that a version has in Milvus. Raises DamagedError, StoreError."""
    for code, entry in manifest.languages.items():
        if entry.search.store == "milvus":
            path = folder / f"{code}.milvus"
            MilvusIndex.open(path, entry.sentences, manifest.dimension, entry.search).verify()


def drop_unused(index: Path) -> list[str]:
    """Drop collections made here that neither a version nor a resumable build names; return their names.

    The caller holds the lock of `index`. Raises StoreError; collections not dropped then remain noted.
    """
    work = index / WORK
    noted = _noted(work)
    if not noted:
        return []
    files = [*(index / VERSIONS).glob("*/*.milvus"), *work.glob("*/*.milvus")]
    used = {read_held(path).collection for path in files}
    dropped = [name for name in noted if name not in used]
    for name in dropped:
        _drop(name, parse(noted[name]))
        _note(work, {other: where for other, where in _noted(work).items() if other != name})
    return dropped


def _drop(name: str, address: Address) -> None:
    connection = connect(address)
    file = connection.address.file
    if file is not None and not file.is_dir():
        return  # removed with all its collections
    try:
        connection.call("drop_collection", name, seconds=60)
    except StoreError as error:
        raise StoreError(f"{error} (collection {name} is no longer used: repeat `index gc`)") from error


def _noted(work: Path) -> dict[str, str]:
    path = work / COLLECTIONS_FILE
    try:
        noted = json.loads(path.read_text("utf-8")) if path.exists() else {}
    except (OSError, ValueError) as error:
        raise DamagedError(f"{path}: cannot be read: remove it, and unused collections by hand") from error
    return {str(name): str(where) for name, where in noted.items()} if isinstance(noted, dict) else {}


def _note(work: Path, collections: Mapping[str, str]) -> None:
    replace_text(work / COLLECTIONS_FILE, json.dumps(collections, indent=1) + "\n")
