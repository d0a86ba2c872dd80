"""Sentence vectors in Milvus: where it is, asking it with a time limit, a collection as a VectorIndex.

A collection has a row's number and its vector, nothing else: texts stay in LANG.arrow, and nothing that a
user sends is ever part of a filter. LANG.milvus (JSON) says where a language's collection is, and what is in
it by count and checksum; milvus_store.py makes both.

In the environment: PASSEPARTOUT_MILVUS is where Milvus is, whatever an index says; PASSEPARTOUT_MILVUS_TOKEN
("user:password" or a key) is sent there, and nowhere that only an index names; PASSEPARTOUT_MILVUS_SECONDS is
how long an answer is waited for.
"""

import hashlib
import logging
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from index.encoder.vectors import Vectors
from index.errors import DamagedError, StoreError, UsageError
from index.storage.index_manifest import SearchSettings
from index.vectors.vector_index import ROWS_AT_A_TIME, Rows, by_cosine

ROW, VECTOR = "row", "vector"  # the fields of a collection
COLLECTION_NAME = r"[A-Za-z_][A-Za-z0-9_]{0,199}"
COLLECTION_PREFIX = "passepartout"
ADDRESS_HELP = (
    "give milvus://HOST:PORT/NAME, milvus+tls://HOST:PORT/NAME, or milvus://PATH/FILE.db for milvus-lite"
)
SERVER_ADDRESS = re.compile(
    r"milvus(?P<tls>\+tls)?://(?P<host>[A-Za-z0-9.-]*[A-Za-z0-9]|\[[0-9A-Fa-f:]+\]):(?P<port>[0-9]{1,5})"
    r"(?:/(?P<name>[A-Za-z_][A-Za-z0-9_]{0,63})?)?"
)
FILE_ADDRESS = re.compile(r"milvus://(?P<path>(?:\.{1,2})?/.+\.db)")
ELSEWHERE, TOKEN, SECONDS = (f"PASSEPARTOUT_MILVUS{end}" for end in ("", "_TOKEN", "_SECONDS"))
QUERY_PATIENCE = 3.0  # seconds
LARGE_CALL, LARGE_CALL_SECONDS = 64, 60.0  # rows or queries of a build's calls; the time limit of these
FAILURE_PAUSE = 1.0  # seconds for which a Milvus that failed is not asked again
QUERIES_AT_A_TIME = 256  # asked at a time
GRAPH_WIDENING = 4  # candidates in a graph for each answer asked for, at least
MOST_ANSWERS = 16_384  # answers that Milvus gives to one query


@dataclass(frozen=True)
class Address:
    """An address: `uri` for pymilvus, the `prefix` of collection names, and the `text` in a manifest."""

    uri: str
    prefix: str
    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def file(self) -> Path | None:
        return None if "://" in self.uri else Path(self.uri)


def parse(text: str) -> Address:
    """Parse an address, making paths absolute. UsageError for an invalid one."""
    if parts := FILE_ADDRESS.fullmatch(text):
        path = str(Path(parts["path"]).resolve())
        return Address(path, COLLECTION_PREFIX, f"milvus://{path}")
    parts = SERVER_ADDRESS.fullmatch(text)
    if parts is None or int(parts["port"]) > 65535:
        secret = f"; a password belongs into {TOKEN}" if "@" in text else ""
        raise UsageError(
            f"{text.rpartition('@')[2]!r} is not the address of a Milvus server: {ADDRESS_HELP}{secret}"
        )
    scheme = "https" if parts["tls"] else "http"
    return Address(f"{scheme}://{parts['host']}:{parts['port']}", parts["name"] or COLLECTION_PREFIX, text)


class Connection:
    """A connection to Milvus. After a failure it pauses for FAILURE_PAUSE seconds, then connects again."""

    def __init__(self, address: Address, token: str, seconds: float) -> None:
        self.address, self.seconds = address, seconds
        self._token, self._client, self._lock = token, None, Lock()
        self._closed_until = 0.0
        self.failures = 0

    def call(self, method: str, *values: Any, seconds: float | None = None, **named: Any) -> Any:  # noqa: ANN401
        """Call a method of MilvusClient. Raises StoreError, one line, within `seconds`."""
        from pymilvus.exceptions import MilvusException

        if time.monotonic() < self._closed_until:
            raise StoreError(f"Milvus at {self.address} did not answer just now: {self._hint}")
        try:
            client = self._connected()
            return getattr(client, method)(*values, timeout=seconds or self.seconds, **named)
        # grpc's errors, deadlines among them, have no other class in common.
        except (MilvusException, OSError, ValueError, RuntimeError, _rpc_error()) as error:
            self._leave()
            raise StoreError(f"Milvus at {self.address}: {_told(error)}: {self._hint}") from error

    @property
    def _hint(self) -> str:
        return "does another process use it?" if self.address.file else "is it running?"

    def _connected(self) -> Any:  # noqa: ANN401 (pymilvus is untyped)
        from pymilvus import MilvusClient

        with self._lock:
            if self._client is None:
                # A pool of its own: a shared one would make a new client wait as long as the one that failed.
                # No pings: every call has a time limit, and milvus-lite drops those who ping it.
                options = {"grpc.use_local_subchannel_pool": 1, "grpc.keepalive_time_ms": 600_000}
                self._client = MilvusClient(
                    self.address.uri,
                    token=self._token,
                    timeout=self.seconds,
                    dedicated=True,
                    grpc_options=options,
                )
            return self._client

    def _leave(self) -> None:
        self._closed_until = time.monotonic() + FAILURE_PAUSE
        self.failures += 1
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()


def _rpc_error() -> type[Exception]:
    from grpc import RpcError

    error: type[Exception] = RpcError
    return error


def _told(error: BaseException) -> str:
    """The error in one line."""
    details = getattr(error, "details", None)  # of grpc's
    message = str(details() if callable(details) else getattr(error, "message", "") or error)
    return (message.strip() or type(error).__name__).splitlines()[0][:200]


def connect(address: Address) -> Connection:
    """Connect to an address. UsageError for invalid settings, or if pymilvus is not installed."""
    elsewhere, token = os.environ.get(ELSEWHERE, ""), os.environ.get(TOKEN, "")
    if token and not elsewhere:
        raise UsageError(f"{TOKEN} is set, but not for whom: set {ELSEWHERE}={address} too")
    try:
        seconds = float(os.environ.get(SECONDS) or QUERY_PATIENCE)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:
        raise UsageError(f"{SECONDS} must be a number of seconds above 0")
    _import()
    return _connection(parse(elsewhere) if elsewhere else address, token, seconds)


@cache
def _connection(address: Address, token: str, seconds: float) -> Connection:
    """The connection that all languages and versions share, so that all of them know of a failure."""
    return Connection(address, token, seconds)


def _import() -> None:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    for name in ("pymilvus", "milvus_lite"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # our own errors say the same in one line
    try:
        import pymilvus  # noqa: F401
    except ImportError:
        raise UsageError("vectors in Milvus need pymilvus: pip install 'passepartout[milvus]'") from None


class Held(BaseModel):
    """LANG.milvus: `rows` vectors in a collection at `address`, `sha256` of their float32 bytes in order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    address: str
    collection: str = Field(pattern=rf"^{COLLECTION_NAME}$")
    rows: int = Field(ge=1)
    dimension: int = Field(ge=1, le=65536)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


def read_held(path: Path) -> Held:
    """LANG.milvus of a verified version."""
    try:
        return Held.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise DamagedError(f"{path}: does not name a collection: build the index again") from error


class MilvusIndex:
    """A VectorIndex over a collection. `ef`: the search width of its HNSW graph, 0 if it has none."""

    def __init__(self, connection: Connection, held: Held, ef: int = 0) -> None:
        self._connection, self._held, self.ef = connection, held, ef
        self.dimension = held.dimension
        self._checked = -1  # the connection's number of failures at the last check

    @classmethod
    def open(cls, path: Path, count: int, dimension: int, search: SearchSettings) -> "MilvusIndex":
        """Open the collection that a verified file names.

        Raises DamagedError if it is missing or not (count, dimension), StoreError if Milvus does not answer.
        """
        held = read_held(path)
        if (held.rows, held.dimension) != (count, dimension):
            raise DamagedError(
                f"{path}: not {count} vectors of {dimension} dimensions: build the index again"
            )
        address = parse(held.address)
        connection = connect(address)
        file = connection.address.file
        if file is not None and not file.is_dir():  # milvus-lite would make an empty one
            raise StoreError(
                f"{file}: no such vectors: copy them there, or set {ELSEWHERE} to where they are"
            )
        index = cls(connection, held, int(search.parameters.removeprefix("ef=") or 0))
        index.check()
        return index

    def __len__(self) -> int:
        return self._held.rows

    def check(self) -> None:
        """Load the collection. DamagedError if it does not exist or lacks rows."""
        name = self._held.collection
        exists = self._connection.call("has_collection", name)
        rows = self._connection.call("get_collection_stats", name)["row_count"] if exists else 0
        if rows != len(self):
            raise DamagedError(
                f"Milvus at {self._connection.address} has {rows} of {len(self)} vectors in {name}: "
                "serve another version (index rollback) or build the index again"
            )
        self._connection.call("load_collection", name, seconds=60)
        self._checked = self._connection.failures

    def _call(self, method: str, size: int, **named: Any) -> Any:  # noqa: ANN401
        """Call a method on the collection, which is loaded again if Milvus has failed in the meantime."""
        if self._checked != self._connection.failures:
            try:
                self.check()
            except DamagedError as error:
                raise StoreError(str(error)) from error
        seconds = max(LARGE_CALL_SECONDS, self._connection.seconds) if size > LARGE_CALL else None
        return self._connection.call(method, self._held.collection, seconds=seconds, **named)

    def reconstruct(self, rows: Sequence[int] | Rows) -> Vectors:
        numbers = np.asarray(rows, np.int64).tolist()
        starts = range(0, len(numbers), ROWS_AT_A_TIME)
        blocks = [self._vectors(numbers[start : start + ROWS_AT_A_TIME]) for start in starts]
        return np.concatenate([np.zeros((0, self.dimension), np.float32), *blocks])

    def _vectors(self, rows: list[int]) -> Vectors:
        records = self._call(
            "query",
            len(rows),
            filter=f"{ROW} in {rows}",
            output_fields=[ROW, VECTOR],
            consistency_level="Strong",
        )
        vectors = {int(record[ROW]): record[VECTOR] for record in records}
        if set(vectors) != set(rows):
            raise DamagedError(
                f"Milvus at {self._connection.address} has lost rows of {self._held.collection}: "
                "build the index again"
            )
        return np.array([vectors[row] for row in rows], np.float32).reshape(-1, self.dimension)

    def search(self, queries: Vectors, k: int) -> tuple[Vectors, Rows]:
        k = min(k, len(self), MOST_ANSWERS)
        queries = np.ascontiguousarray(queries, np.float32)
        cosines = np.zeros((len(queries), k), np.float32)
        rows = np.zeros((len(queries), k), np.int64)
        for start in range(0, len(queries) if k else 0, QUERIES_AT_A_TIME):
            block = slice(start, start + QUERIES_AT_A_TIME)
            cosines[block], rows[block] = self._nearest(queries[block], k)
        return cosines, rows

    def _nearest(self, queries: Vectors, k: int) -> tuple[Vectors, Rows]:
        ef = max(self.ef, GRAPH_WIDENING * k) if self.ef else 0
        answers = self._ask(queries, k, ef)
        while ef and ef < len(self) and min(map(len, answers)) < k:  # a graph may have dead ends
            ef = min(4 * ef, len(self))
            answers = self._ask(queries, k, ef)
        if min(map(len, answers)) < k:
            raise StoreError(f"Milvus at {self._connection.address} finds fewer than {k} vectors: look there")
        rows = np.array([[hit[ROW] for hit in hits] for hits in answers], np.int64)
        cosines = np.array([[hit["distance"] for hit in hits] for hits in answers], np.float32)
        return by_cosine(cosines, rows)

    def _ask(self, queries: Vectors, k: int, ef: int) -> Sequence[Sequence[Any]]:
        answers: Sequence[Sequence[Any]] = self._call(
            "search",
            len(queries),
            data=list(queries),
            anns_field=VECTOR,
            limit=k,
            output_fields=[ROW],
            search_params={"metric_type": "IP", "params": {"ef": ef} if ef else {}},
        )
        return answers

    def verify(self) -> None:
        """Check every vector. DamagedError if they are not those that were written."""
        if digest(self._blocks()) != self._held.sha256:
            raise DamagedError(
                f"Milvus at {self._connection.address} does not have in {self._held.collection} what "
                "was written: build the index again"
            )

    def _blocks(self) -> Iterator[Vectors]:
        for start in range(0, len(self), ROWS_AT_A_TIME):
            yield self.reconstruct(range(start, min(start + ROWS_AT_A_TIME, len(self))))


def digest(blocks: Iterator[Vectors]) -> str:
    """The SHA-256 of float32 rows, in hexadecimal."""
    checksum = hashlib.sha256()
    for block in blocks:
        checksum.update(np.ascontiguousarray(block, np.float32).tobytes())
    return checksum.hexdigest()
