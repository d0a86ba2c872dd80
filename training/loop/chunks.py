"""The gradient of a batch in chunks, for encoders that leave no memory for all of it at once.

Contrastive losses need all captions and pictures of a batch at once; the encoders do not. So, as in GradCache
(Gao et al. 2021, Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup): embed every chunk
without a graph, gather the embeddings of all chunks, take the losses and their gradient with
respect to these embeddings, then embed every chunk again with a graph and pass the gradient on. The second
pass draws the same dropout and masks as the first, from the chunk's own seed.

Batch normalisation in a tuned backbone sees a chunk, not the batch: the one thing that chunks change.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from training.loop.engine import Chunk, Engine, Losses
from training.objectives.base import Objective, Rows, Step, weighted_losses


class ChunkedEngine(Engine):
    """Computes the gradient of a whole batch, however it is cut into chunks."""

    def backward(self, chunks: Sequence[Chunk]) -> Losses:
        if len(chunks) == 1:
            return super().backward(chunks)
        active = self.active(chunks[0])
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
        return {name: losses[name].detach() for name in active}

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


def _pass_on(rows: Sequence[Tensor], gradients: Sequence[Tensor], losses: Sequence[Tensor]) -> None:
    """Backpropagate the gradients of rows and the losses through one graph."""
    pairs = [(row, gradient) for row, gradient in zip(rows, gradients, strict=True) if row.requires_grad]
    tensors = [row for row, _ in pairs] + [loss for loss in losses if loss.requires_grad]
    torch.autograd.backward(tensors, [*(g for _, g in pairs), *(None for _ in tensors[len(pairs) :])])
