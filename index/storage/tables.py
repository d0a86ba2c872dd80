"""Tables of texts as Arrow files, and arrays as .npy files.

Arrow files are uncompressed and memory-mapped: opening them reads nothing, makes no Python strings, and
workers share them. (Parquet would cost 45 MB more in every process, for its code and for decoding.)
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from index.arrays import Numbers
from index.errors import CorpusError, DamagedError

SENTENCE_COLUMNS = ("id", "text", "metadata")  # of LANG.arrow; metadata is a JSON object
TEXT_COLUMNS = frozenset({*SENTENCE_COLUMNS, "word"})  # others are numbers
BATCH_ROWS = 1 << 16  # of a record batch, in tables written incrementally
SMALL_BYTES = 4096  # of an array that is read rather than mapped


def write_table(path: Path, columns: Mapping[str, Sequence[str] | Numbers]) -> None:
    """Write columns of equal length, texts and arrays of numbers, as an Arrow file of one record batch."""
    batch = pa.record_batch(list(map(array, columns.values())), names=list(columns))
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
        writer.write_batch(batch)


class TableWriter:
    """Writes rows of texts in record batches of BATCH_ROWS, whatever the sizes in which they are added."""

    def __init__(self, writer: Any, names: Sequence[str]) -> None:  # noqa: ANN401 (pyarrow is untyped)
        self._writer, self._rows = writer, {name: list[str]() for name in names}

    def add(self, columns: Mapping[str, Sequence[str]]) -> None:
        """Add rows, given as columns of equal length."""
        for name, values in columns.items():
            self._rows[name].extend(values)
        while len(next(iter(self._rows.values()))) >= BATCH_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the next record batch."""
        batch = [strings(values[:BATCH_ROWS]) for values in self._rows.values()]
        self._writer.write_batch(pa.record_batch(batch, names=list(self._rows)))
        self._rows = {name: values[BATCH_ROWS:] for name, values in self._rows.items()}


def strings(values: Sequence[str]) -> Any:  # noqa: ANN401 (pyarrow is untyped)
    """An Arrow array of strings, made from buffers: `pyarrow.array` imports pandas if it is installed."""
    encoded = [value.encode() for value in values]
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(values)), out=offsets[1:])
    if offsets[-1] > np.iinfo(np.int32).max:
        raise CorpusError(f"{len(values)} texts in a row exceed 2 GiB: apply the cleaning rule `long`")
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)


def array(values: Sequence[str] | Numbers) -> Any:  # noqa: ANN401
    """An Arrow array of strings, or of numbers whose memory it shares; without pandas, as `strings`."""
    if not isinstance(values, np.ndarray):
        return strings(values)
    numbers = np.ascontiguousarray(values, np.int64)
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])


def integers(values: Any) -> Numbers:  # noqa: ANN401
    """The integers of an Arrow array, none of them null, (n,); its `to_numpy` imports pandas, too."""
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return np.from_dlpack(whole).astype(np.int64, copy=False)


@contextmanager
def writing_table(path: Path, names: Sequence[str]) -> Iterator[TableWriter]:
    """Open an Arrow file of string columns that is written incrementally."""
    schema = pa.schema([(name, pa.string()) for name in names])
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        table = TableWriter(writer, names)
        yield table
        table.flush()


def read_table(path: Path, columns: Sequence[str], rows: int, *, whole: bool = False) -> Any:  # noqa: ANN401 (pyarrow is untyped)
    """Open a verified Arrow file, memory-mapped: a record batch, or a table where there are several.

    DamagedError if it has not these columns and this many rows; with `whole`, which reads it all, also if a
    value is not within the file.
    """
    try:
        file = pa.ipc.open_file(pa.memory_map(str(path)))
        table = file.get_batch(0) if file.num_record_batches == 1 else file.read_all()
        table.validate(full=whole)
    except (pa.ArrowException, OSError) as error:
        raise DamagedError(f"{path}: Arrow cannot read it: build the index again") from error
    types = [pa.string() if name in TEXT_COLUMNS else pa.int64() for name in columns]
    nulls = sum(column.null_count for column in table.columns)
    if (table.schema.names, table.schema.types, table.num_rows, nulls) != (list(columns), types, rows, 0):
        raise DamagedError(f"{path}: not {rows} rows of {', '.join(columns)}: build the index again")
    return table


def read_array(path: Path, shape: tuple[int, ...], kind: type[np.generic] = np.float32) -> NDArray[Any]:
    """Map a verified .npy file; DamagedError if it has another shape or type. Never pickled.

    An axis of -1 may have any length.
    """
    try:
        # What is empty cannot be mapped.
        small = path.stat().st_size <= SMALL_BYTES
        values: NDArray[Any] = np.load(path, mmap_mode=None if small else "r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise DamagedError(f"{path}: not a numpy array: build the index again") from error
    fits = len(values.shape) == len(shape) and all(
        wanted in (-1, length) for wanted, length in zip(shape, values.shape, strict=True)
    )
    if not fits or values.dtype != kind:
        raise DamagedError(f"{path}: not {kind.__name__} of shape {shape}: build the index again")
    return values.view(np.ndarray)  # on which numpy is faster than on a memmap
