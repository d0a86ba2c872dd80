"""The gradient of one step, of the whole batch however it is cut into chunks.

Contrastive losses need all captions and pictures of a batch at once; the encoders do not. So, as in GradCache
(Gao et al. 2021, Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup): embed every chunk
without a graph, gather the embeddings of all chunks, take the losses and their gradient with
respect to these embeddings, then embed every chunk again with a graph and pass the gradient on. The second
pass draws the same dropout and masks as the first, from the chunk's own seed.

Batch normalisation in a tuned backbone sees a chunk, not the batch: the one thing that chunks change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from training.data.auxiliary import Batch
from training.encoders.two_branch import TwoBranch
from training.objectives import Forward, Objective, Step, weighted_losses
from training.objectives.base import Rows
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

        `chunks`, in their order, are the batch. Parameters must have no gradients before.
        """
        active = self._active(chunks)
        if len(chunks) == 1:
            losses = weighted_losses(active, self.forward(chunks[0], active))
            torch.stack(list(losses.values())).sum().backward()  # type: ignore[no-untyped-call]
        else:
            losses = self._backward_in_parts(chunks, active)
        return {name: losses[name].detach() for name in active}

    def forward(self, chunk: Chunk, active: Mapping[str, Objective]) -> Forward:
        """Compute what the active objectives read of a chunk, as float32 whatever the precision."""
        torch.manual_seed(chunk.seed)
        device = chunk.batch.ids.device
        bfloat16 = uses_bfloat16(self.recipe.optimiser, device)
        with torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
            return Forward(self.model, chunk.batch, active)

    def _active(self, chunks: Sequence[Chunk]) -> dict[str, Objective]:
        """The objectives that this batch trains."""
        inactive = chunks[0].batch.inactive
        return {name: o for name, o in self.recipe.objectives.items() if name not in inactive}

    def _backward_in_parts(self, chunks: Sequence[Chunk], active: Mapping[str, Objective]) -> Losses:
        batch_step, totals = self._first_pass(chunks, active)
        losses, gradients = _across_rows(active, batch_step)
        start = 0
        for chunk in chunks:
            step = self.forward(chunk, active)
            stop = start + len(step.text)
            rows = [row for name in batch_step.rows for row in step[name]]
            by_term = _of_terms(active, step, totals)
            _pass_on(rows, [gradient[start:stop] for gradient in gradients], list(by_term.values()))
            losses |= {name: losses.get(name, 0) + loss.detach() for name, loss in by_term.items()}
            start = stop
        return losses

    @torch.no_grad()
    def _first_pass(
        self, chunks: Sequence[Chunk], active: Mapping[str, Objective]
    ) -> tuple[Step, dict[str, int]]:
        """The rows that losses over the whole batch read, as leaves.

        And, of each other objective, the number of terms that its loss is the mean of.
        """
        parts: dict[str, list[Rows]] = {}
        totals = {name: 0 for name, objective in active.items() if objective.by_term}
        for chunk in chunks:
            step = self.forward(chunk, active)
            for name in step.shared:
                parts.setdefault(name, []).append(step[name])
            for name in totals:
                totals[name] += active[name].terms(step)
        rows = {
            name: tuple(torch.cat(column).requires_grad_() for column in zip(*of_chunks, strict=True))
            for name, of_chunks in parts.items()
        }
        return Step(rows), totals


def _of_terms(active: Mapping[str, Objective], step: Step, totals: Mapping[str, int]) -> Losses:
    """A chunk's share of the losses that are means of terms."""
    objectives = {name: active[name] for name in totals}
    shares = {name: o.terms(step) / max(1, totals[name]) for name, o in objectives.items()}
    return {name: loss * shares[name] for name, loss in weighted_losses(objectives, step).items()}


def _across_rows(active: Mapping[str, Objective], step: Step) -> tuple[Losses, list[Tensor]]:
    """The losses over the whole batch, and the gradient of their sum with respect to each tensor of rows."""
    leaves = [row for rows in step.rows.values() for row in rows]
    losses = weighted_losses({n: o for n, o in active.items() if not o.by_term}, step)
    if not losses:
        return {}, [torch.zeros_like(row) for row in leaves]
    gradients = torch.autograd.grad(
        torch.stack(list(losses.values())).sum(), leaves, allow_unused=True, materialize_grads=True
    )
    return losses, list(gradients)


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


def _pass_on(rows: Sequence[Tensor], gradients: Sequence[Tensor], losses: Sequence[Tensor]) -> None:
    """Backpropagate the gradients of rows and the losses through one graph."""
    pairs = [(row, gradient) for row, gradient in zip(rows, gradients, strict=True) if row.requires_grad]
    tensors = [row for row, _ in pairs] + [loss for loss in losses if loss.requires_grad]
    torch.autograd.backward(tensors, [*(g for _, g in pairs), *(None for _ in tensors[len(pairs) :])])
