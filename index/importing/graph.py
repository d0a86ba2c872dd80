"""Adapts a sentence encoder's ONNX graph to the form of a bundle: token ids and mask in, unit vectors out.

Further inputs of the graph are computed before it; pooling, dense layers and normalisation are added after
it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from index.encoder.text_encoder import GRAPH_INPUTS, GRAPH_OUTPUT
from index.errors import UsageError, listed

TOKEN_TYPES = "token_type_ids"  # which of two texts a token belongs to: all zeros for a single text
SENTENCE_OUTPUTS = ("sentence_embedding",)
TOKEN_OUTPUTS = ("token_embeddings", "last_hidden_state", "hidden")
POOLING_MODES = ("cls", "mean", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
ONNX_ACTIVATIONS = {"Identity": None, "Tanh": "Tanh", "ReLU": "Relu", "Sigmoid": "Sigmoid"}  # torch's: ONNX's
OLDEST_OPSET = 11  # the first with CumSum, which pooling needs
AXES_ARE_INPUTS = 18  # from this opset on, for ReduceMax
MAX_PROTOBUF_BYTES = (1 << 31) - 1  # bytes of one protobuf message
NAME_PREFIX = "encoder/"  # of the original names in the graph


@dataclass(frozen=True)
class Dense:
    """A linear layer: `weights` (in, out), `bias` (out,), and one of ONNX_ACTIVATIONS."""

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    activation: str


@dataclass(frozen=True)
class Head:
    """Turns token vectors into a text vector: one or more POOLING_MODES, concatenated, then dense layers."""

    pooling: tuple[str, ...] = ("mean",)
    dense: tuple[Dense, ...] = ()


class Nodes:
    """Collects ONNX nodes and constants; each has one value, referred to by its name."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, **attributes: object) -> str:
        """Append a node; return the name of its output."""
        name = f"bundle/{len(self.nodes)}/{operator}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, value: NDArray[Any]) -> str:
        """Append a constant; return its name."""
        name = f"bundle/constant/{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def named(self, name: str, output: str) -> None:
        """Give a value another name."""
        self.nodes.append(helper.make_node("Identity", [name], [output]))


def model_of(nodes: Nodes, opset: int) -> Any:  # noqa: ANN401 (onnx is untyped)
    """Make a model of nodes that read GRAPH_INPUTS and compute GRAPH_OUTPUT."""
    graph = helper.make_graph(nodes.nodes, "encoder", _inputs(), _outputs(), nodes.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def read_graph(path: Path) -> Any:  # noqa: ANN401 (onnx is untyped)
    """Read an ONNX file with its external tensors; UsageError if it is not valid."""
    try:
        model = onnx.load(path)
        onnx.checker.check_model(path)
    except Exception as error:  # protobuf's, onnx's and the system's errors share no base class
        raise UsageError(f"{path}: not a valid ONNX file ({error})") from error
    if model.ByteSize() > MAX_PROTOBUF_BYTES:
        raise UsageError(f"{path}: over 2 GiB, more than one ONNX file can hold: take it in 16 or 8 bits")
    return model


def with_head(model: Any, head: Head, output: str | None, path: Path) -> Any:  # noqa: ANN401 (onnx is untyped)
    """Change `model` into one that reads GRAPH_INPUTS and computes unit vectors as GRAPH_OUTPUT.

    `output` names its present output: token vectors (n, t, d), which are pooled, or text vectors (n, d); by
    default, the one with a usual name, or the only one. UsageError for other inputs or outputs.
    """
    opset = _opset(model, path)
    name, rank = _choose(model, output, path)
    model = onnx.compose.add_prefix(model, NAME_PREFIX)
    before, after = _feed(model, path), Nodes()
    rows = after.add("Cast", NAME_PREFIX + name, to=TensorProto.FLOAT)
    if rank == 3:
        rows = _dense(after, _pool(after, rows, head.pooling, opset), head.dense)
    normalise(after, rows)
    nodes = [*before, *model.graph.node, *after.nodes]
    for field, values in (("node", nodes), ("input", _inputs()), ("output", _outputs())):
        kept = list(values)
        model.graph.ClearField(field)
        getattr(model.graph, field).extend(kept)
    model.graph.initializer.extend(after.constants)
    return model


def normalise(nodes: Nodes, rows: str) -> None:
    """Append the normalisation of rows (n, d) to unit vectors, as OUTPUT."""
    nodes.named(nodes.add("LpNormalization", rows, axis=-1, p=2), GRAPH_OUTPUT)


def save_without_notes(model: Any, path: Path) -> None:  # noqa: ANN401 (onnx is untyped)
    """Write a model without doc strings and metadata, in which torch names folders of this machine."""
    graph = model.graph
    values = (*graph.value_info, *graph.input, *graph.output, *graph.initializer)
    for part in (model, graph, *graph.node, *values):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    onnx.save(model, path)


def save_graph(model: Any, path: Path) -> int:  # noqa: ANN401 (onnx is untyped)
    """Write a model as `save_without_notes` does; return the dimension of OUTPUT.

    Raises UsageError if ONNX Runtime cannot run it.
    """
    save_without_notes(model, path)
    try:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        ones = np.ones((2, 3), np.int64)
        vectors = session.run([GRAPH_OUTPUT], dict.fromkeys(GRAPH_INPUTS, ones))[0]
    except Exception as error:  # onnxruntime's errors share no base class of their own
        raise UsageError(f"ONNX Runtime cannot run this encoder: {error}") from error
    return int(vectors.shape[1])


def _inputs() -> list[Any]:
    return [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in GRAPH_INPUTS]


def _outputs() -> list[Any]:
    return [helper.make_tensor_value_info(GRAPH_OUTPUT, TensorProto.FLOAT, ["n", "d"])]


def _opset(model: Any, path: Path) -> int:  # noqa: ANN401 (onnx is untyped)
    opset = max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=0)
    if opset < OLDEST_OPSET:
        raise UsageError(f"{path}: ONNX opset {opset}: export it again with {OLDEST_OPSET} or later")
    return int(opset)


def _choose(model: Any, wanted: str | None, path: Path) -> tuple[str, int]:  # noqa: ANN401 (onnx is untyped)
    """Choose the output to read; return its name and its rank, 2 or 3."""
    ranks = {value.name: len(value.type.tensor_type.shape.dim) for value in model.graph.output}
    usual = [name for name in (*SENTENCE_OUTPUTS, *TOKEN_OUTPUTS) if name in ranks]
    name = wanted or (next(iter(ranks)) if len(ranks) == 1 else next(iter(usual), ""))
    if name not in ranks:
        problem = f"no output {wanted!r}" if wanted else "several outputs, none of them of a usual name"
        raise UsageError(f"{path}: {problem}: name one with --output: {listed(list(ranks))}")
    if ranks[name] not in (2, 3):
        raise UsageError(
            f"{path}: the output {name} has {ranks[name]} axes: not vectors of tokens (3) or of texts (2)"
        )
    return name, ranks[name]


def _feed(model: Any, path: Path) -> list[Any]:  # noqa: ANN401 (onnx is untyped)
    """The nodes that compute the inputs of the graph, whose names have NAME_PREFIX, from GRAPH_INPUTS."""
    initial = {value.name for value in model.graph.initializer}
    inputs = {
        value.name.removeprefix(NAME_PREFIX): value
        for value in model.graph.input
        if value.name not in initial
    }
    sources = {name: name for name in GRAPH_INPUTS} | {TOKEN_TYPES: "bundle/zeros"}
    if unknown := set(inputs) - set(sources):
        raise UsageError(f"{path}: reads {listed(sorted(unknown))}, not only {listed(list(sources))}")
    if missing := set(GRAPH_INPUTS) - set(inputs):
        raise UsageError(f"{path}: does not read {listed(sorted(missing))}: export it with both inputs")
    nodes = [helper.make_node("Sub", [GRAPH_INPUTS[0], GRAPH_INPUTS[0]], ["bundle/zeros"])]
    for name, value in inputs.items():
        kind = value.type.tensor_type.elem_type
        nodes.append(helper.make_node("Cast", [sources[name]], [NAME_PREFIX + name], to=kind))
    return nodes


def _pool(nodes: Nodes, hidden: str, modes: Sequence[str], opset: int) -> str:
    """Pool token vectors (n, t, d) to text vectors (n, d); the results of several modes are concatenated."""
    pooled = [
        _maximum(nodes, hidden, opset) if mode == "max" else _mean(nodes, hidden, mode) for mode in modes
    ]
    return pooled[0] if len(pooled) == 1 else nodes.add("Concat", *pooled, axis=-1)


def _mean(nodes: Nodes, hidden: str, mode: str) -> str:
    """A weighted mean over tokens, which may select a single one, on whichever side the padding is."""
    mask = GRAPH_INPUTS[1]
    chosen = nodes.add("Cast", POOLING_WEIGHTS[mode](nodes, mask), to=TensorProto.FLOAT)
    row = nodes.add("Reshape", chosen, nodes.constant(np.array([0, 1, -1])))  # (n, 1, t)
    sums = nodes.add("MatMul", row, hidden)
    column = nodes.add(
        "Reshape", nodes.add("Cast", mask, to=TensorProto.FLOAT), nodes.constant(np.array([0, -1, 1]))
    )
    total = nodes.add("MatMul", row, column)
    if mode == "mean_sqrt_len_tokens":
        total = nodes.add("Sqrt", total)
    return nodes.add("Reshape", nodes.add("Div", sums, total), nodes.constant(np.array([0, -1])))


def _places(nodes: Nodes, mask: str) -> str:
    """Number the tokens of each text 1, 2, ...; 0 for padding."""
    return nodes.add("Mul", mask, nodes.add("CumSum", mask, nodes.constant(np.array(1))))


def _first(nodes: Nodes, mask: str) -> str:
    return nodes.add("Equal", _places(nodes, mask), nodes.constant(np.array(1)))


def _last(nodes: Nodes, mask: str) -> str:
    """Select the token whose number is the number of tokens."""
    row = nodes.add("Reshape", mask, nodes.constant(np.array([0, 1, -1])))
    column = nodes.add("Reshape", mask, nodes.constant(np.array([0, -1, 1])))
    floats = [nodes.add("Cast", part, to=TensorProto.FLOAT) for part in (row, column)]
    count = nodes.add("Reshape", nodes.add("MatMul", *floats), nodes.constant(np.array([0, 1])))
    return nodes.add("Equal", _places(nodes, mask), nodes.add("Cast", count, to=TensorProto.INT64))


def _all(_: Nodes, mask: str) -> str:
    return mask


# Pooling -> the weight of each token, (n, t).
POOLING_WEIGHTS: dict[str, Callable[[Nodes, str], str]] = {
    "cls": _first,
    "mean": _all,
    "mean_sqrt_len_tokens": _all,
    "weightedmean": _places,
    "lasttoken": _last,
}


def _maximum(nodes: Nodes, hidden: str, opset: int) -> str:
    column = nodes.add("Reshape", GRAPH_INPUTS[1], nodes.constant(np.array([0, -1, 1])))
    is_token = nodes.add("Cast", column, to=TensorProto.BOOL)
    masked = nodes.add("Where", is_token, hidden, nodes.constant(np.array(-1e9, np.float32)))
    if opset < AXES_ARE_INPUTS:
        return nodes.add("ReduceMax", masked, axes=[1], keepdims=0)
    return nodes.add("ReduceMax", masked, nodes.constant(np.array([1])), keepdims=0)


def _dense(nodes: Nodes, rows: str, layers: Sequence[Dense]) -> str:
    for layer in layers:
        product = nodes.add("MatMul", rows, nodes.constant(layer.weights))
        rows = nodes.add("Add", product, nodes.constant(layer.bias))
        if operator := ONNX_ACTIVATIONS[layer.activation]:
            rows = nodes.add(operator, rows)
    return rows
