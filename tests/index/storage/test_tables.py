"""Arrow tables and arrays beside the vectors: read as what the manifest says, or refused."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.errors import DamagedError
from index.storage.tables import read_array, read_table, write_table


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=20))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "x.arrow"
    write_table(path, {"text": texts, "count": np.arange(len(texts))})
    table = read_table(path, ("text", "count"), len(texts))
    assert table.column("text").to_pylist() == texts
    assert table.column("count").to_pylist() == list(range(len(texts)))
    assert str(table.schema.field("count").type) == "int64"


@pytest.mark.parametrize(("columns", "rows"), [(("text",), 3), (("word",), 2), (("text", "id"), 2), ((), 2)])
def test_another_table_is_refused(tmp_path: Path, columns: tuple[str, ...], rows: int) -> None:
    write_table(tmp_path / "x.arrow", {"text": ["a", "b"]})
    with pytest.raises(DamagedError, match=f"not {rows} rows"):
        read_table(tmp_path / "x.arrow", columns, rows)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"ARROW1\0\0nonsense"])
def test_what_is_no_table_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.arrow").write_bytes(content)
    with pytest.raises(DamagedError, match="Arrow cannot read it"):
        read_table(tmp_path / "x.arrow", ("text",), 1)


def test_arrays_come_back(tmp_path: Path) -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "x.npy", values)
    np.testing.assert_array_equal(read_array(tmp_path / "x.npy", (2, 3)), values)


@pytest.mark.parametrize(
    "values",
    [np.zeros((3, 2), np.float32), np.zeros((2, 3)), np.zeros(6, np.float32), np.zeros((2, 3), np.int32)],
)
def test_another_array_is_refused(tmp_path: Path, values: np.ndarray) -> None:
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(DamagedError, match=r"not float32 of shape \(2, 3\)"):
        read_array(tmp_path / "x.npy", (2, 3))


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    class Canary:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (tmp_path / "canary",)  # type: ignore[return-value]

    np.save(tmp_path / "x.npy", np.array([Canary()], object), allow_pickle=True)
    with pytest.raises(DamagedError, match="not a numpy array"):
        read_array(tmp_path / "x.npy", (1,))
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"nonsense"])
def test_what_is_no_array_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(DamagedError, match="not a numpy array"):
        read_array(tmp_path / "x.npy", (1,))


OFFSETS = pa.py_buffer(np.array([0, 1 << 30, 6], np.int32))


@pytest.mark.parametrize(
    "words",
    [
        pa.array([1, 2]),
        pa.array(["dog", None]),
        # Bytes that are no text, and texts outside of the file, under the name of the type.
        pa.Array.from_buffers(pa.string(), 2, pa.array([b"dog", b"\xff"]).buffers()),
        pa.Array.from_buffers(pa.string(), 2, [None, OFFSETS, pa.py_buffer(b"dogcat")]),
    ],
    ids=["numbers", "nothing", "bytes", "outside"],
)
def test_words_that_are_none_are_refused(tmp_path: Path, words: pa.Array) -> None:
    """As whoever can sign an index may write them."""
    batch = pa.record_batch([words, pa.array([1, 2])], names=["word", "count"])
    with pa.OSFile(str(tmp_path / "x.arrow"), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(DamagedError, match="build the index again"):
        read_table(tmp_path / "x.arrow", ("word", "count"), 2, whole=True)
