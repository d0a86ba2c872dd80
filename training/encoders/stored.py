"""Reads back the token embeddings that an encoder bundle's graph holds."""

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.helper import get_node_attr_value

from index.encoder.bundle import Bundle
from index.errors import UsageError

TABLE = "model.text.tokens.weight"  # as training.export.onnx names it


def read_embeddings(bundle: Bundle) -> NDArray[np.float32]:
    """Read the (vocabulary, width) embeddings of a bag of subwords, from 32 bits if the bundle has them.

    UsageError if the encoder is of another kind, or has layers after the mean.
    """
    graph = onnx.load(bundle.graph("fp32") or bundle.graph(bundle.manifest.precision)).graph
    values: dict[str, NDArray[np.float32]] = {
        value.name: numpy_helper.to_array(value).astype(np.float32) for value in graph.initializer
    }
    match [name for name, value in values.items() if value.ndim == 2]:
        case [name] if name == TABLE:
            return values[TABLE]
        case [name] if name == TABLE + "_quantized":  # in 8 bits, as ONNX Runtime's quantiser writes it
            zero_point, scale = values[f"{TABLE}_zero_point"], values[f"{TABLE}_scale"]
            return np.asarray((values[name] - zero_point) * scale)
        case [_, _] if f"{TABLE}_Q4" in values:  # in 4 bits, with a scale for each block of a row
            codes, scales = values[f"{TABLE}_Q4"], values[f"{TABLE}_scales"]
            (lookup,) = (node for node in graph.node if node.op_type == "GatherBlockQuantized")
            block = get_node_attr_value(lookup, "block_size")
            return codes * scales.repeat(block, axis=1)[:, : codes.shape[1]]
    raise UsageError(f"text.start {bundle.folder}: not a bag of subwords without a head")
