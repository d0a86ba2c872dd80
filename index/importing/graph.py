"""Adapts a sentence encoder's ONNX graph to the form of a bundle: token ids and mask in, unit vectors out.

Further inputs of the graph are computed before it; pooling, dense layers and normalisation are added after
it, written in ONNX's own notation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper, parser

from index.encoder.text_encoder import GRAPH_INPUTS, GRAPH_OUTPUT
from index.errors import UsageError, listed

TOKEN_TYPES = "token_type_ids"  # which of two texts a token belongs to: all zeros for a single text
USUAL_OUTPUTS = ("sentence_embedding", "token_embeddings", "last_hidden_state", "hidden")
ONNX_ACTIVATIONS = {
    "Identity": "Identity",
    "Tanh": "Tanh",
    "ReLU": "Relu",
    "Sigmoid": "Sigmoid",
}  # torch's: ONNX's
OLDEST_OPSET = 11  # the first with CumSum, which pooling needs
MAX_PROTOBUF_BYTES = (1 << 31) - 1  # bytes of one protobuf message
NAME_PREFIX = "encoder/"  # of the original names in the graph

IDS, MASK = GRAPH_INPUTS
# Pooling of sentence-transformers -> the weight of each token, (n, t), on whichever side the padding is.
POOLING_WEIGHTS = {
    "mean": f"weight = Identity ({MASK})",
    "cls": f"place = CumSum ({MASK}, one) from_start = Mul (place, {MASK}) weight = Equal (from_start, one)",
    "lasttoken": f"place = CumSum <reverse = 1> ({MASK}, one) from_end = Mul (place, {MASK}) "
    "weight = Equal (from_end, one)",
    "weightedmean": f"place = CumSum ({MASK}, one) weight = Mul (place, {MASK})",
}
POOLING = """
    one = Constant <value = int64 {1}> ()
    to_row = Constant <value = int64[3] {0, 1, -1}> ()
    to_column = Constant <value = int64[3] {0, -1, 1}> ()
    to_vector = Constant <value = int64[2] {0, -1}> ()
    WEIGHT
    weights = Cast <to = 1> (weight)
    row = Reshape (weights, to_row)
    sums = MatMul (row, hidden)
    mask = Cast <to = 1> (attention_mask)
    column = Reshape (mask, to_column)
    total = MatMul (row, column)
    mean = Div (sums, total)
    layer0 = Reshape (mean, to_vector)
"""


@dataclass(frozen=True)
class Dense:
    """A linear layer: `weights` (in, out), `bias` (out,), and one of ONNX_ACTIVATIONS."""

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    activation: str


@dataclass(frozen=True)
class Head:
    """Turns token vectors into a text vector: one of POOLING_WEIGHTS, then dense layers."""

    pooling: str = "mean"
    dense: tuple[Dense, ...] = ()


def graph_of(lines: str, constants: Mapping[str, NDArray[Any]]) -> Any:  # noqa: ANN401 (onnx is untyped)
    """Parse a graph in ONNX's notation: GRAPH_INPUTS and constants to GRAPH_OUTPUT, (n, d)."""
    inputs = ", ".join(f"int64[n, t] {name}" for name in GRAPH_INPUTS)
    graph = parser.parse_graph(f"encoder ({inputs}) => (float[n, d] {GRAPH_OUTPUT}) {{ {lines} }}")
    graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in constants.items())
    return graph


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
    opset = max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=0)
    if opset < OLDEST_OPSET:
        raise UsageError(f"{path}: ONNX opset {opset}: export it again with {OLDEST_OPSET} or later")
    name, rank = _choose(model, output, path)
    model = onnx.compose.add_prefix(model, NAME_PREFIX)
    before = _feed(model, path)
    read = helper.make_node("Cast", [NAME_PREFIX + name], ["hidden"], to=TensorProto.FLOAT)
    after = _after(head) if rank == 3 else graph_of(normalised("hidden"), {})
    nodes = [*before, *model.graph.node, read, *after.node]
    for field, values in (("node", nodes), ("input", after.input), ("output", after.output)):
        kept = list(values)
        model.graph.ClearField(field)
        getattr(model.graph, field).extend(kept)
    model.graph.initializer.extend(after.initializer)
    return model


def _after(head: Head) -> Any:  # noqa: ANN401 (onnx is untyped)
    lines = [POOLING.replace("WEIGHT", POOLING_WEIGHTS[head.pooling])]
    constants: dict[str, NDArray[np.float32]] = {}
    for number, layer in enumerate(head.dense):
        constants |= {f"weights{number}": layer.weights, f"bias{number}": layer.bias}
        lines.append(
            f"product{number} = MatMul (layer{number}, weights{number})"
            f"sum{number} = Add (product{number}, bias{number})"
            f"layer{number + 1} = {ONNX_ACTIVATIONS[layer.activation]} (sum{number})"
        )
    return graph_of("\n".join([*lines, normalised(f"layer{len(head.dense)}")]), constants)


def normalised(rows: str) -> str:
    """The line that gives rows (n, d) as unit vectors, GRAPH_OUTPUT."""
    return f"{GRAPH_OUTPUT} = LpNormalization <axis = -1, p = 2> ({rows})"


def save_without_notes(model: Any, path: Path) -> None:  # noqa: ANN401 (onnx is untyped)
    """Write a model without doc strings and metadata, in which torch names folders of this machine."""
    graph = model.graph
    values = (*graph.value_info, *graph.input, *graph.output, *graph.initializer)
    for part in (model, graph, *graph.node, *values):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    onnx.save(model, path)


def save_graph(model: Any, path: Path) -> int:  # noqa: ANN401 (onnx is untyped)
    """Write a model as `save_without_notes` does; return the dimension of its vectors.

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


def _choose(model: Any, wanted: str | None, path: Path) -> tuple[str, int]:  # noqa: ANN401 (onnx is untyped)
    """Choose the output to read; return its name and its rank, 2 or 3."""
    ranks = {value.name: len(value.type.tensor_type.shape.dim) for value in model.graph.output}
    usual = next((name for name in USUAL_OUTPUTS if name in ranks), "")
    name = wanted or (next(iter(ranks)) if len(ranks) == 1 else usual)
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
        value.name.removeprefix(NAME_PREFIX): value.type.tensor_type.elem_type
        for value in model.graph.input
        if value.name not in initial
    }
    sources = {name: name for name in GRAPH_INPUTS} | {TOKEN_TYPES: "zeros"}
    if unknown := set(inputs) - set(sources):
        raise UsageError(f"{path}: reads {listed(sorted(unknown))}, not only {listed(list(sources))}")
    if missing := set(GRAPH_INPUTS) - set(inputs):
        raise UsageError(f"{path}: does not read {listed(sorted(missing))}: export it with both inputs")
    zeros = helper.make_node("Sub", [IDS, IDS], ["zeros"])
    casts = (
        helper.make_node("Cast", [sources[name]], [NAME_PREFIX + name], to=kind)
        for name, kind in inputs.items()
    )
    return [zeros, *casts]
