"""Sentence vectors in Milvus: a collection as a VectorIndex.

A collection has a row's number and its vector, nothing else: texts stay in LANG.arrow, and nothing that a
user sends is ever part of a filter. A collection is filled before a manifest names it, and never changes
afterwards. Its name is noted in work/COLLECTIONS first, so that `gc` can drop what no version names; that
file is not copied with versions to other machines, which therefore drop nothing made here.

In the environment: PASSEPARTOUT_MILVUS is where Milvus is, whatever an index says; PASSEPARTOUT_MILVUS_TOKEN
("user:password" or a key) is sent there, and nowhere that only an index names.
"""

import logging
import os
import re
import secrets
import time
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from index.arrays import Numbers, Vectors
from index.errors import DamagedError, StoreError, UsageError
from index.progress import Progress
from index.storage.files import replace_text
from index.storage.index_manifest import SearchSettings
from index.storage.versions import COLLECTIONS, WORK
from index.vectors.vector_index import ROWS_AT_A_TIME, by_cosine

ADDRESS = re.compile(
    r"milvus(?P<tls>\+tls)?://(?P<place>(?:[A-Za-z0-9.-]*[A-Za-z0-9]|\[[0-9A-Fa-f:]+\]):[0-9]{1,5})/?"
)
ELSEWHERE, TOKEN = "PASSEPARTOUT_MILVUS", "PASSEPARTOUT_MILVUS_TOKEN"
QUERY_SECONDS = 3.0  # an answer is waited for, at least
FAILURE_PAUSE = 1.0  # seconds for which a Milvus that failed is not asked again
ROW, VECTOR = "row", "vector"  # the fields of a collection
PREFIX = "passepartout"  # of collections' names
LARGE_SECONDS, BUILD_SECONDS = 60.0, 3600.0  # an answer is waited for
LARGE_CALL = 64  # rows or queries of a build's calls
QUERIES_AT_A_TIME = 256
MOST_ANSWERS = 16_384  # that Milvus gives to one query
GRAPH_ROWS = 100_000  # with fewer, every vector is compared
# HNSW (Malkov and Yashunin 2018): links of a row; candidates while building and in search.
LINKS, BUILD_WIDTH, SEARCH_WIDTH = 32, 200, 400


def uri_of(address: str) -> str:
    """The address of a server as pymilvus has it. UsageError for an invalid one."""
    parts = ADDRESS.fullmatch(address)
    if parts is None or int(parts["place"].rpartition(":")[2]) > 65535:
        secret = f"; a password belongs into {TOKEN}" if "@" in address else ""
        raise UsageError(
            f"{address.rpartition('@')[2]!r} is not the address of a Milvus server: give milvus://HOST:PORT "
            f"or milvus+tls://HOST:PORT{secret}"
        )
    return f"{'https' if parts['tls'] else 'http'}://{parts['place']}"


class Connection:
    """A connection to Milvus. After a failure it pauses for FAILURE_PAUSE seconds, then connects again."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self._uri, self._token = address, uri_of(address), token
        self._client, self._lock, self._closed_until, self.failures = None, Lock(), 0.0, 0

    def call(self, method: str, *values: Any, seconds: float = 0, **named: Any) -> Any:  # noqa: ANN401
        """Call a method of MilvusClient. Raises StoreError, one line, within `seconds`."""
        from grpc import RpcError
        from pymilvus.exceptions import MilvusException

        if time.monotonic() < self._closed_until:
            raise StoreError(f"Milvus at {self.address} did not answer just now: is it running?")
        try:
            limit = max(QUERY_SECONDS, seconds)
            return getattr(self._connected(), method)(*values, timeout=limit, **named)
        # grpc's errors, deadlines among them, have no other class in common.
        except (MilvusException, OSError, ValueError, RuntimeError, RpcError) as error:
            self._closed_until = time.monotonic() + FAILURE_PAUSE
            self.failures += 1
            with self._lock:
                client, self._client = self._client, None
            if client is not None:
                client.close()
            details = getattr(error, "details", None)  # of grpc's
            told = str(details() if callable(details) else getattr(error, "message", "") or error).strip()
            reason = (told or type(error).__name__).splitlines()[0][:200]
            raise StoreError(f"Milvus at {self.address}: {reason}: is it running?") from error

    def _connected(self) -> Any:  # noqa: ANN401 (pymilvus is untyped)
        from pymilvus import MilvusClient

        with self._lock:
            if self._client is None:
                # A pool of its own: a shared one would make a new client wait as long as the one that failed.
                # No pings: every call has a time limit, and milvus-lite drops those who ping it.
                options = {"grpc.use_local_subchannel_pool": 1, "grpc.keepalive_time_ms": 600_000}
                named = {"timeout": QUERY_SECONDS, "dedicated": True, "grpc_options": options}
                self._client = MilvusClient(self._uri, token=self._token, **named)
            return self._client


def connect(address: str) -> Connection:
    """Connect to an address. UsageError for invalid settings."""
    elsewhere, token = os.environ.get(ELSEWHERE, ""), os.environ.get(TOKEN, "")
    if token and not elsewhere:
        raise UsageError(f"{TOKEN} is set, but not for which server: set {ELSEWHERE}={address} too")
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # our own errors say the same in one line
    return _connection(elsewhere or address, token)


# Shared by all languages and versions, so that all of them know of a failure.
_connection = cache(Connection)


class MilvusIndex:
    """A VectorIndex over the collection of `rows` vectors that the settings of a language name.

    Raises DamagedError if it is missing or has other rows, StoreError if Milvus does not answer.
    """

    def __init__(self, store: str, rows: int, dimension: int, settings: SearchSettings) -> None:
        self._connection, self._rows, self.dimension = connect(store), rows, dimension
        self._name, self._ef = settings.collection, int(settings.parameters.removeprefix("ef=") or 0)
        self.check()

    def __len__(self) -> int:
        return self._rows

    def check(self) -> None:
        """Load the collection. DamagedError if it does not exist or lacks rows."""
        name = self._name
        exists = self._connection.call("has_collection", name)
        rows = self._connection.call("get_collection_stats", name)["row_count"] if exists else 0
        if rows != len(self):
            raise DamagedError(
                f"Milvus at {self._connection.address} has {rows} of {len(self)} vectors in {name}: "
                "serve another version (index rollback) or build the index again"
            )
        self._connection.call("load_collection", name, seconds=LARGE_SECONDS)
        self._checked = self._connection.failures

    def _call(self, method: str, size: int, **named: Any) -> Any:  # noqa: ANN401
        """Call a method on the collection, which is loaded again if Milvus has failed in the meantime."""
        if self._checked != self._connection.failures:
            try:
                self.check()
            except DamagedError as error:
                raise StoreError(str(error)) from error
        seconds = LARGE_SECONDS if size > LARGE_CALL else 0
        return self._connection.call(method, self._name, seconds=seconds, **named)

    def reconstruct(self, rows: Sequence[int] | Numbers) -> Vectors:
        numbers, found = np.asarray(rows, np.int64).tolist(), dict[int, Any]()
        for start in range(0, len(numbers), ROWS_AT_A_TIME):
            block = numbers[start : start + ROWS_AT_A_TIME]
            named = {"filter": f"{ROW} in {block}", "output_fields": [ROW, VECTOR]}
            records = self._call("query", len(block), **named, consistency_level="Strong")
            found |= {int(record[ROW]): record[VECTOR] for record in records}
        if set(found) != set(numbers):
            raise DamagedError(
                f"Milvus at {self._connection.address} has lost rows of {self._name}: build the index again"
            )
        return np.array([found[row] for row in numbers], np.float32).reshape(-1, self.dimension)

    def search(self, queries: Vectors, k: int, *, batched: bool = False) -> tuple[Vectors, Numbers]:
        k = min(k, len(self), MOST_ANSWERS)
        cosines, rows = np.zeros((len(queries), k), np.float32), np.zeros((len(queries), k), np.int64)
        for start in range(0, len(queries) if k else 0, QUERIES_AT_A_TIME):
            block = np.ascontiguousarray(queries[start : start + QUERIES_AT_A_TIME], np.float32)
            params = {"metric_type": "IP", "params": {"ef": max(self._ef, k)} if self._ef else {}}
            named = {"anns_field": VECTOR, "limit": k, "output_fields": [ROW], "search_params": params}
            answers = self._call("search", len(block), data=list(block), **named)
            if min(map(len, answers)) < k:
                raise StoreError(f"Milvus at {self._connection.address} finds fewer than {k}: check it")
            near = [[hit["distance"] for hit in hits] for hits in answers]
            found = [[hit[ROW] for hit in hits] for hits in answers]
            place = slice(start, start + QUERIES_AT_A_TIME)
            cosines[place], rows[place] = by_cosine(np.array(near, np.float32), np.array(found, np.int64))
        return cosines, rows


def write_milvus(vectors: Vectors, code: str, store: str, factory: str | None, work: Path) -> SearchSettings:
    """Write (n, d) unit vectors of a language into a new collection of `store`, noted in the folder `work`.

    Compared one by one with the factory "Flat" and where they are few, found by a graph otherwise. Raises
    StoreError.
    """
    from pymilvus import DataType, MilvusClient

    connection = connect(store)
    name = f"{PREFIX}_{secrets.token_hex(8)}_{code.replace('-', '_')}"
    noted = work / COLLECTIONS
    replace_text(noted, (noted.read_text("utf-8") if noted.exists() else "") + f"{name} {store}\n")
    graph = len(vectors) > GRAPH_ROWS and factory != "Flat"
    schema: Any = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field(ROW, DataType.INT64, is_primary=True)
    schema.add_field(VECTOR, DataType.FLOAT_VECTOR, dim=vectors.shape[1])
    # A complete collection never changes, so readers need not wait for the latest changes.
    options = {"schema": schema, "consistency_level": "Eventually"}
    connection.call("create_collection", name, seconds=BUILD_SECONDS, **options)
    with Progress(len(vectors), unit="vectors", label=f"store {code}") as bar:
        for start in range(0, len(vectors), ROWS_AT_A_TIME):
            block = enumerate(vectors[start : start + ROWS_AT_A_TIME], start)
            rows = [{ROW: row, VECTOR: np.asarray(vector)} for row, vector in block]
            connection.call("insert", name, rows, seconds=BUILD_SECONDS)
            bar.advance(len(rows))
    connection.call("flush", name, seconds=BUILD_SECONDS)
    index: Any = MilvusClient.prepare_index_params()
    wide = {"M": LINKS, "efConstruction": BUILD_WIDTH} if graph else {}
    index.add_index(VECTOR, index_type="HNSW" if graph else "FLAT", metric_type="IP", params=wide)
    connection.call("create_index", name, index, seconds=BUILD_SECONDS)
    parameters, kind = (f"ef={SEARCH_WIDTH}", "HNSW") if graph else ("", "Flat")
    return SearchSettings(store="milvus", factory=kind, parameters=parameters, collection=name)


def drop_unused(index: Path, used: Collection[str]) -> list[str]:
    """Drop collections made here that are not `used` by any version; return their names.

    The caller holds the lock of `index`. Raises StoreError; collections not dropped then remain noted.
    """
    noted = index / WORK / COLLECTIONS
    left = dict(line.split(" ", 1) for line in noted.read_text("utf-8").splitlines())
    dropped = [name for name in left if name not in used]
    for name in dropped:
        try:
            connect(left[name]).call("drop_collection", name, seconds=LARGE_SECONDS)
        except StoreError as error:
            raise StoreError(f"{error} (collection {name} is not used: repeat `index gc`)") from error
        del left[name]
        replace_text(noted, "".join(f"{other} {address}\n" for other, address in left.items()))
    return dropped
