"""Screen: which rows may be among the nearest, by integer products of rounded vectors.

ONNX Runtime multiplies 8-bit queries with 7-bit rows (`MatMulInteger`; the instructions of every processor
for that take a quarter of the time of floats or less). With 8 bits of both, a processor without VNNI would
clip sums of two products at 16 bits. The products are integers, so what is found for a query does not
depend on the others of its batch, nor on the processor.
"""

from functools import cached_property
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from index.encoder.text_encoder import Vectors
from index.search.product import ZERO, product_of_codes, product_of_queries
from index.search.vector_index import Rows

ROW_LEVEL = 63  # the largest code of a row
QUERIES = 32  # at once: more would need more memory and gain nothing
GROUPS = 6  # of rows whose highest product is looked at first, for each row that is wanted
MOST = 4  # times the rows that are wanted, where products are equal

Products = NDArray[np.int32]


class Screen:
    """Rows as codes, (n, d) int8 of at most ROW_LEVEL, packed as the processor at hand likes it."""

    def __init__(self, codes: NDArray[np.int8], threads: int = 1) -> None:
        self._shape, self._threads = codes.shape, threads
        # Beside the models, which would be copied several times. They must live as long as a session.
        self._codes = onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(codes.T))

    def rows(self, queries: Vectors, wanted: int) -> Rows:
        """(n, d) -> (n, at least `wanted`): the rows with the highest products in order, then -1."""
        blocks = [
            self._block(queries[start : start + QUERIES], wanted) for start in range(0, len(queries), QUERIES)
        ]
        return blocks[0] if len(blocks) == 1 else _table([row for block in blocks for row in block])

    def products(self, queries: Vectors) -> tuple[Products, Vectors]:
        """(n, d) -> (n, rows); by what the values of each query were multiplied (n,)."""
        products, scale = self._of_queries.run(None, {"queries": np.ascontiguousarray(queries, np.float32)})
        return products, scale[:, 0]

    def multiply(self, codes: NDArray[np.uint8]) -> Products:
        """(n, d) what `query_codes` gives -> (n, rows)."""
        products: Products = self._of_codes.run(None, {"queries": codes})[0]
        return products

    @cached_property
    def _of_queries(self) -> Any:  # noqa: ANN401 (onnxruntime is untyped)
        """Makes codes, too: numpy's steps would each give Python's lock away, and a busy loop keeps it."""
        return self._open(product_of_queries(*self._shape))

    @cached_property
    def _of_codes(self) -> Any:  # noqa: ANN401 (onnxruntime is untyped)
        return self._open(product_of_codes(*self._shape))

    def _open(self, model: bytes) -> Any:  # noqa: ANN401 (onnxruntime is untyped)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self._threads, 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_external_initializers(["codes"], [self._codes])
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

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
