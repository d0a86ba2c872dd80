"""The text branch as ONNX: token ids and mask in, unit vectors out; and its versions in fewer bits."""

import tempfile
from pathlib import Path
from typing import Any

import onnx
import onnxruntime.quantization as quantization
import torch
from torch import Tensor, nn

from index.encoder.text_encoder import GRAPH_INPUTS, GRAPH_OUTPUT
from training.encoders.two_branch import TwoBranch
from training.quiet import quiet

BLOCK = 128  # numbers of a vector that have a scale in common, in 4 bits


class _TextBranch(nn.Module):
    def __init__(self, model: TwoBranch) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.model.embed_text(ids, mask)


def export_text_branch(model: TwoBranch, file: Path) -> None:
    """Write the text encoder, its head and the normalisation as one ONNX graph.

    Inputs `input_ids` and `attention_mask` (n, t) int64, output `sentence_embedding` (n, d) float32;
    n and t are free.
    """
    branch = _TextBranch(model).cpu()
    ids = torch.full((2, 6), 5, dtype=torch.int64)
    sizes = {0: torch.export.Dim("n"), 1: torch.export.Dim("t", max=model.text.max_tokens)}
    fast_path = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # its fused operator has no ONNX form
    try:
        write_graph(branch, (ids, torch.ones_like(ids)), file, sizes)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast_path)


def write_graph(module: nn.Module, example: tuple[Tensor, Tensor], file: Path, sizes: dict[int, Any]) -> None:
    """Write a module of token ids and mask, whose one output are vectors, as an ONNX graph.

    example: ids and mask (n, t). sizes: what is free of the two dimensions, as torch.export names it.
    """
    with quiet(), torch.no_grad():
        torch.onnx.export(
            module.eval(),
            example,
            file,
            input_names=list(GRAPH_INPUTS),
            output_names=[GRAPH_OUTPUT],
            dynamic_shapes=(sizes, sizes),
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    _save(onnx.load(file), file)


def _save(model: Any, path: Path) -> None:  # noqa: ANN401 (onnx is untyped)
    """Write a model without doc strings and metadata, in which torch names folders of this machine."""
    graph = model.graph
    values = (*graph.value_info, *graph.input, *graph.output, *graph.initializer)
    for part in (model, graph, *graph.node, *values):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    onnx.save(model, path)


def quantise(file: Path, target: Path) -> None:
    """Write the graph of `file` to `target` with 8-bit weights; activations are quantised at run time."""
    model = onnx.load(file)
    # The quantiser transposes weights, and fails where the exporter noted their shapes before.
    del model.graph.value_info[:]
    with tempfile.TemporaryDirectory() as folder, quiet():
        draft = Path(folder) / target.name
        quantization.quantize_dynamic(model, draft, weight_type=quantization.QuantType.QInt8)
        target.write_bytes(draft.read_bytes())


def quantise_tables(file: Path, target: Path) -> None:
    """Write the graph of `file` to `target` with the tables of vectors that it looks up in 4 bits.

    BLOCK numbers of a vector have a scale in common (ONNX Runtime's GatherBlockQuantized).
    """
    with quiet():  # the module sets the level of the root logger when it is imported
        from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    with quiet():
        quantiser = MatMulNBitsQuantizer(
            onnx.load(file),
            block_size=BLOCK,
            is_symmetric=True,
            op_types_to_quantize=("Gather",),
            quant_axes=(("Gather", 1),),
        )
        quantiser.process()
    _save(quantiser.model.model, target)
