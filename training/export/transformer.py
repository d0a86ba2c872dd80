"""A transformer of Hugging Face layout as ONNX: token ids and mask in, the vectors of tokens out."""

from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoModelForTextEncoding
from transformers.utils import logging

from training.export.onnx import write_graph
from training.quiet import quiet

EXAMPLE_TOKEN = 5  # any that is no padding


class _Tokens(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        hidden: Tensor = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        return hidden


def write_transformer(folder: Path, file: Path, output: str) -> None:
    """Export the model in `folder`, whose weights must be safetensors; no code of the folder is run."""
    config = AutoConfig.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    kind = AutoModelForTextEncoding if config.is_encoder_decoder else AutoModel
    logging.disable_progress_bar()
    with quiet():
        model = kind.from_pretrained(
            str(folder),
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            attn_implementation="eager",
            dtype=torch.float32,
        )
    ids = torch.full((2, 6), EXAMPLE_TOKEN, dtype=torch.int64)
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    sizes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    write_graph(_Tokens(model), (ids, mask), file, output, sizes)
