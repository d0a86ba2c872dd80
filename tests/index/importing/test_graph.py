from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from index.encoder.text_encoder import GRAPH_INPUTS, GRAPH_OUTPUT
from index.errors import UsageError
from index.importing.graph import POOLING_WEIGHTS, Head, read_graph, save_graph, with_head

TABLE = np.random.default_rng(0).standard_normal((20, 6)).astype(np.float32)
IDS = np.array([[3, 4, 5, 0], [7, 0, 0, 0]])
MASK = np.array([[1, 1, 1, 0], [1, 0, 0, 0]])


def write_graph(
    file: Path,
    *,
    inputs: tuple[str, ...] = GRAPH_INPUTS,
    outputs: tuple[str, ...] = ("last_hidden_state",),
    kind: int = TensorProto.INT64,
    opset: int = 17,
) -> Path:
    """A graph that looks its tokens up in TABLE; every other input is added to the ids."""
    ids, nodes = inputs[0], []
    for number, name in enumerate(name for name in inputs[1:] if name != "attention_mask"):
        nodes.append(helper.make_node("Add", [ids, name], [f"ids/{number}"]))
        ids = f"ids/{number}"
    nodes += [helper.make_node("Gather", ["table", ids], [name]) for name in outputs]
    graph = helper.make_graph(
        nodes,
        "tokens",
        [helper.make_tensor_value_info(name, kind, ["n", "t"]) for name in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", "t", 6]) for name in outputs],
        [numpy_helper.from_array(TABLE, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, file)
    return file


def encode(
    source: Path, target: Path, head: Head | None = None, output: str | None = None
) -> NDArray[np.float32]:
    """Vectors of IDS by the graph in `source`, made a bundle's."""
    save_graph(with_head(read_graph(source), head or Head(), output, source), target)
    return vectors_of(target, IDS)


def vectors_of(graph: Path, ids: NDArray[np.int64]) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    vectors: NDArray[np.float32] = session.run(
        [GRAPH_OUTPUT], dict(zip(GRAPH_INPUTS, (ids, MASK), strict=True))
    )[0]
    return vectors


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


MEANS = unit(np.stack([TABLE[3:6].mean(0), TABLE[7]]))


@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.INT32])
def test_tokens_are_averaged_where_nothing_says_otherwise(kind: int, tmp_path: Path) -> None:
    source = write_graph(tmp_path / "model.onnx", kind=kind)
    np.testing.assert_allclose(encode(source, tmp_path / "out.onnx"), MEANS, atol=1e-6)


def test_token_types_are_zeros(tmp_path: Path) -> None:
    source = write_graph(tmp_path / "model.onnx", inputs=(*GRAPH_INPUTS, "token_type_ids"))
    np.testing.assert_allclose(encode(source, tmp_path / "out.onnx"), MEANS, atol=1e-6)


POOLED = {
    "mean": MEANS,
    "cls": unit(TABLE[[3, 7]]),
    "lasttoken": unit(TABLE[[5, 7]]),
    "weightedmean": unit(np.stack([np.array([1, 2, 3]) @ TABLE[3:6], TABLE[7]])),
}


@pytest.mark.parametrize("opset", [11, 13, 18, 21])
@pytest.mark.parametrize("pooling", POOLING_WEIGHTS)
def test_every_pooling_in_every_opset(pooling: str, opset: int, tmp_path: Path) -> None:
    source = write_graph(tmp_path / "model.onnx", opset=opset)
    vectors = encode(source, tmp_path / "out.onnx", Head(pooling))
    np.testing.assert_allclose(vectors, POOLED[pooling], atol=1e-6)
    padded = np.where(MASK == 1, IDS, 9)
    np.testing.assert_allclose(vectors_of(tmp_path / "out.onnx", padded), POOLED[pooling], atol=1e-6)


def test_an_output_is_read_by_name(tmp_path: Path) -> None:
    source = write_graph(tmp_path / "model.onnx", outputs=("first", "second"))
    with pytest.raises(UsageError, match="--output: first, second"):
        encode(source, tmp_path / "out.onnx")
    with pytest.raises(UsageError, match="no output 'third'"):
        encode(source, tmp_path / "out.onnx", output="third")
    np.testing.assert_allclose(encode(source, tmp_path / "out.onnx", output="second"), MEANS, atol=1e-6)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ((*GRAPH_INPUTS, "pixel_values"), "reads pixel_values"),
        (("input_ids",), "does not read attention_mask"),
    ],
)
def test_inputs_that_no_bundle_has(inputs: tuple[str, ...], said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        encode(write_graph(tmp_path / "model.onnx", inputs=inputs), tmp_path / "out.onnx")


def test_an_old_graph_and_none_at_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="opset 9"):
        encode(write_graph(tmp_path / "old.onnx", opset=9), tmp_path / "out.onnx")
    (tmp_path / "text.onnx").write_text("no graph", "utf-8")
    with pytest.raises(UsageError, match="not a valid ONNX file"):
        read_graph(tmp_path / "text.onnx")
