"""What a run goes on from: token embeddings, vocabulary and picture space of a bundle or a run."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.helper import get_node_attr_value
from safetensors import SafetensorError
from safetensors.numpy import load_file

from index.arrays import Vectors
from index.encoder.bundle import PICTURE_SPACE, TOKENIZER, Bundle, open_bundle
from index.encoder.picture_space import PictureSpace, read_picture_space
from index.errors import UsageError

TABLE = "model.text.tokens.weight"  # as training.export.onnx and checkpoints name it
BEST, RESULT = "best.safetensors", "result.json"  # of a run (training.loop.run)


@dataclass(frozen=True)
class Start:
    """What a run goes on from.

    tokenizer: its file. embeddings: (vocabulary, width). space: where texts lie among pictures, if known.
    """

    folder: Path
    tokenizer: Path
    embeddings: Vectors
    space: PictureSpace | None


def open_start(folder: Path) -> Start:
    """Open the bundle, or the finished run, in a folder. UsageError if it is no bag of subwords."""
    if not (folder / RESULT).is_file():
        bundle = open_bundle(folder)
        return Start(folder, bundle.tokenizer, read_embeddings(bundle), PictureSpace.open(bundle))
    try:
        embeddings = load_file(folder / BEST)[TABLE].astype(np.float32)
    except (OSError, SafetensorError, KeyError):
        raise UsageError(f"text.start {folder}: not a finished run of a bag of subwords") from None
    file = folder / PICTURE_SPACE
    space = read_picture_space(file, embeddings.shape[1]) if file.is_file() else None
    return Start(folder, folder / TOKENIZER, embeddings, space)


def read_embeddings(bundle: Bundle) -> Vectors:
    """Read the (vocabulary, width) embeddings of a bag of subwords, from 32 bits if the bundle has them.

    UsageError if the encoder is of another kind, or has layers after the mean.
    """
    graph = onnx.load(bundle.graph("fp32") or bundle.graph(bundle.manifest.precision)).graph
    values: dict[str, Vectors] = {
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
