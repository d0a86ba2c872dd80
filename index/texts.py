"""What stands beside the vectors: texts and arrays.

Texts are Arrow files, uncompressed and memory-mapped: they cost no reading, no Python strings, and workers
share them. (Parquet would cost 45 MB more in every process, for its code and for decoding.)
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from index.errors import DamagedError


def write_table(path: Path, columns: Mapping[str, Sequence[str] | Sequence[int] | NDArray[np.int64]]) -> None:
    """Write columns of equal length as an Arrow file of one record batch."""
    batch = pa.record_batch(dict(columns))
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
        writer.write_batch(batch)


def read_table(path: Path, columns: Sequence[str], rows: int) -> pa.RecordBatch:
    """Open a verified Arrow file; DamagedError if it has not these columns and this many rows."""
    try:
        batch = pa.ipc.open_file(pa.memory_map(str(path))).get_batch(0)
    except (pa.ArrowException, OSError) as error:
        raise DamagedError(f"{path}: Arrow cannot read it: build the index again") from error
    if batch.schema.names != list(columns) or batch.num_rows != rows:
        raise DamagedError(f"{path}: not {rows} rows of {', '.join(columns)}: build the index again")
    return batch


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
