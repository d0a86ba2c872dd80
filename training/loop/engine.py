"""The gradient of one step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from training.data.auxiliary import Batch
from training.encoders.two_branch import TwoBranch
from training.objectives.base import Forward, Objective, weighted_losses
from training.recipes.recipe import Recipe
from training.recipes.settings import OptimiserSettings

Losses = dict[str, Tensor]


@dataclass(frozen=True)
class Chunk:
    """Some rows of a batch, and the seed of dropout and masks in the model."""

    batch: Batch
    seed: int


@dataclass(frozen=True)
class Engine:
    """Computes the gradient of a recipe's objectives for `model`."""

    model: TwoBranch
    recipe: Recipe

    def backward(self, chunks: Sequence[Chunk]) -> Losses:
        """Add the gradient of the whole batch to the parameters; returns objective -> its weighted loss.

        `chunks`, in their order, are the batch; here it is one. Parameters must have no gradients before.
        """
        (chunk,) = chunks
        active = self.active(chunk)
        losses = weighted_losses(active, self.forward(chunk, active))
        torch.stack(list(losses.values())).sum().backward()  # type: ignore[no-untyped-call]
        return {name: loss.detach() for name, loss in losses.items()}

    def forward(self, chunk: Chunk, active: Mapping[str, Objective]) -> Forward:
        """Compute what the active objectives read of a chunk, as float32 whatever the precision."""
        torch.manual_seed(chunk.seed)
        device = chunk.batch.ids.device
        bfloat16 = uses_bfloat16(self.recipe.optimiser, device)
        with torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
            return Forward(self.model, chunk.batch, active)

    def active(self, chunk: Chunk) -> dict[str, Objective]:
        """The objectives that the batch of a chunk trains."""
        inactive = chunk.batch.inactive
        return {name: o for name, o in self.recipe.objectives.items() if name not in inactive}


def uses_bfloat16(settings: OptimiserSettings, device: torch.device) -> bool:
    """Whether the encoders compute in bfloat16 on `device`."""
    if settings.precision == "auto":
        return device.type == "cuda" and torch.cuda.is_bf16_supported()
    return settings.precision == "bfloat16"


def cut(rows: int, chunk_size: int) -> list[slice]:
    """Cut a batch into contiguous chunks of about equal size, `chunk_size` rows at most (0: no limit)."""
    parts = -(-rows // chunk_size) if chunk_size else 1
    edges = [rows * i // parts for i in range(parts + 1)]
    return [slice(*edge) for edge in pairwise(edges)]
