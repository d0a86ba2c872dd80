"""What stands beside the vectors: texts (Parquet, kept as Arrow buffers, not as Python strings), arrays."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from index.errors import DamagedError


def write_table(path: Path, columns: dict[str, Sequence[str] | Sequence[int]]) -> None:
    """Write columns of equal length as Parquet."""
    pq.write_table(pa.table(columns), path)


def read_table(path: Path, columns: Sequence[str], rows: int) -> pa.Table:
    """Read a verified Parquet file; DamagedError if it has not these columns and this many rows."""
    try:
        table = pq.read_table(path, use_threads=False, memory_map=False)
    except pa.ArrowException as error:
        raise DamagedError(f"{path}: Arrow cannot read it: build the index again") from error
    if table.column_names != list(columns) or table.num_rows != rows:
        raise DamagedError(f"{path}: not {rows} rows of {', '.join(columns)}: build the index again")
    return table.combine_chunks()


def read_array(path: Path, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Read a verified .npy file of float32; DamagedError if it has another shape or type. Never pickled."""
    try:
        values = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise DamagedError(f"{path}: not a numpy array: build the index again") from error
    if values.shape != shape or values.dtype != np.float32:
        raise DamagedError(f"{path}: not float32 of shape {shape}: build the index again")
    found: NDArray[np.float32] = values
    return found
