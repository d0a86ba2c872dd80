"""Screen: which rows may be among the nearest, by integer products of rounded vectors.

ONNX Runtime multiplies 8-bit queries with 7-bit rows (`MatMulInteger`; the instructions of every processor
for that take a quarter of the time of floats or less). With 8 bits of both, a processor without VNNI would
clip sums of two products at 16 bits. The products are integers, so what is found for a query does not
depend on the others of its batch, nor on the processor.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from index.encoder import Vectors
from index.search import Rows

ROW_LEVEL, QUERY_LEVEL = 63, 127  # the largest code of each
ZERO = QUERY_LEVEL + 1  # what stands for 0 in a query, whose codes have no sign
QUERIES = 32  # at once: more would need more memory and gain nothing
GROUPS = 6  # of rows whose highest product is looked at first, for each row that is wanted
MOST = 4  # times the rows that are wanted, where products are equal
UINT8, INT8, INT32 = 2, 3, 6  # ONNX's numbers of types

Products = NDArray[np.int32]


class Screen:
    """Rows as codes, (n, d) int8 of at most ROW_LEVEL, packed as the processor at hand likes it."""

    def __init__(self, codes: NDArray[np.int8], threads: int = 1) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Beside the model, which would be copied several times. They must live as long as the session.
        self._codes = onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(codes.T))
        options.add_external_initializers(["codes"], [self._codes])
        model = _product(*codes.shape)
        self._session: Any = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def rows(self, queries: Vectors, wanted: int) -> Rows:
        """(n, d) -> (n, at least `wanted`): the rows with the highest products in order, then -1."""
        blocks = [
            self._block(queries[start : start + QUERIES], wanted) for start in range(0, len(queries), QUERIES)
        ]
        return blocks[0] if len(blocks) == 1 else _table([row for block in blocks for row in block])

    def products(self, queries: Vectors) -> tuple[Products, Vectors]:
        """(n, d) -> (n, rows); by what the values of each query were multiplied (n,)."""
        scale = QUERY_LEVEL / np.maximum(np.abs(queries).max(axis=1), 1e-12)
        return self.multiply(query_codes(queries, scale[:, None])), scale

    def multiply(self, codes: NDArray[np.uint8]) -> Products:
        """(n, d) what `query_codes` gives -> (n, rows)."""
        products: Products = self._session.run(None, {"queries": codes})[0]
        return products

    def _block(self, queries: Vectors, wanted: int) -> Rows:
        products, _ = self.products(queries)
        count = products.shape[1]
        # All queries at once: numpy lets other threads run in each step, and then waits for its turn.
        reaching = np.flatnonzero(products >= threshold(products, wanted)[:, None])
        ends = np.searchsorted(reaching, np.arange(len(queries) + 1) * count)
        found = [reaching[ends[i] : ends[i + 1]] - i * count for i in range(len(queries))]
        for number, rows in enumerate(found):
            if len(rows) > MOST * wanted:
                found[number] = np.sort(_highest(products[number], wanted))
        return _table(found)


def codes_of(vectors: Vectors, largest: float) -> NDArray[np.int8]:
    """(n, d) with no value beyond `largest` -> codes that a Screen takes."""
    codes: NDArray[np.int8] = np.rint(vectors * (ROW_LEVEL / max(largest, 1e-12))).astype(np.int8)
    return codes


def query_codes(queries: Vectors, scale: float | Vectors) -> NDArray[np.uint8]:
    """(n, d) with no value beyond QUERY_LEVEL / `scale` -> codes to be multiplied with a Screen."""
    codes: NDArray[np.uint8] = (np.rint(queries * scale) + ZERO).astype(np.uint8)
    return codes


def threshold(products: Products, wanted: int) -> Products:
    """(n, rows) -> (n,): a product that at least `wanted` rows of each query reach, and few more.

    As many groups of rows have such a row; there are far fewer groups than rows to put in order.
    """
    size = max(1, products.shape[1] // (GROUPS * wanted))
    whole = products.shape[1] // size
    if whole < wanted:
        return np.full(len(products), np.iinfo(np.int32).min, np.int32)
    groups = products[:, : whole * size].reshape(len(products), size, whole).max(axis=1)
    least: Products = np.partition(groups, whole - wanted, axis=1)[:, whole - wanted]
    return least


def _highest(product: Products, wanted: int) -> Rows:
    """The `wanted` rows with the highest products, of equal ones the lower rows."""
    return np.argsort(-product, kind="stable")[:wanted]


def _table(rows: list[Rows]) -> Rows:
    found = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int64)
    for number, own in enumerate(rows):
        found[number, : len(own)] = own
    return found


def _product(count: int, dimension: int) -> bytes:
    """An ONNX model of one node: queries (n, dimension) less ZERO times codes (dimension, count).

    Written in protobuf's own terms (onnx.proto): the package `onnx` weighs more than all that is served.
    """
    node = [(1, b"queries"), (1, b"codes"), (1, b"zero"), (2, b"products"), (4, b"MatMulInteger")]
    elsewhere: list[tuple[int, int | bytes]] = [(13, _message([(1, b"location"), (2, b"codes")])), (14, 1)]
    graph = [
        (1, _message(node)),
        (2, b"product"),
        (5, _message([(1, dimension), (1, count), (2, INT8), (8, b"codes"), *elsewhere])),
        (5, _message([(2, UINT8), (8, b"zero"), (9, bytes([ZERO]))])),
        (11, _value(b"queries", UINT8, dimension)),
        (12, _value(b"products", INT32, count)),
    ]
    return _message([(1, 10), (8, _message([(1, b""), (2, 21)])), (7, _message(graph))])


def _value(name: bytes, kind: int, width: int) -> bytes:
    """A matrix of any number of rows."""
    shape = _message([(1, _message([(2, b"n")])), (1, _message([(1, width)]))])
    return _message([(1, name), (2, _message([(1, _message([(1, kind), (2, shape)]))]))])


def _message(fields: Iterable[tuple[int, int | bytes]]) -> bytes:
    """Numbered fields, integers or what has a length."""
    parts: list[bytes] = []
    for number, value in fields:
        if isinstance(value, int):
            parts += [_varint(number << 3), _varint(value)]
        else:
            parts += [_varint(number << 3 | 2), _varint(len(value)), value]
    return b"".join(parts)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
