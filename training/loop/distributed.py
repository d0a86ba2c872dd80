"""The processes that train one model together, as `torchrun` starts them, and what they exchange."""

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.nn.functional as F
from torch import Tensor, distributed, nn

from index.progress import Progress

PATIENCE = timedelta(hours=12)  # the first process may compute features for long while the others wait


@dataclass(frozen=True)
class Processes:
    """This process's number among `count`. Alone, nothing is exchanged and nothing costs time."""

    number: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the one that writes files and shows progress."""
        return self.number == 0

    def gather(self, rows: Tensor, counts: Sequence[int]) -> Tensor:
        """The rows (n, D) of all processes in their order (N, D); `counts` says how many each has."""
        if self.count == 1:
            return rows
        padded = F.pad(rows, (0, 0, 0, max(counts) - len(rows)))
        parts = [torch.empty_like(padded) for _ in counts]
        distributed.all_gather(parts, padded)
        return torch.cat([part[:n] for part, n in zip(parts, counts, strict=True)])

    def sum(self, values: Tensor) -> Tensor:
        """The elementwise sum over all processes."""
        if self.count > 1:
            values = values.clone()
            distributed.all_reduce(values)
        return values

    def counts(self, values: Sequence[int], device: torch.device) -> list[list[int]]:
        """Every process's `values`, in their order."""
        row = torch.tensor(values, dtype=torch.int64, device=device)
        return self.gather(row[None], [1] * self.count).tolist()

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replace each gradient by its sum over all processes; what has none anywhere keeps none."""
        learned = [p for p in parameters if p.requires_grad]
        if self.count == 1 or not learned:
            return
        gradient_counts = self.sum(
            torch.tensor([float(p.grad is not None) for p in learned], device=learned[0].device)
        )
        learned = [p for p, count in zip(learned, gradient_counts.tolist(), strict=True) if count]
        gradients = [p.grad if p.grad is not None else torch.zeros_like(p) for p in learned]
        total = self.sum(torch.cat([gradient.flatten() for gradient in gradients]))
        parts = torch.split(total, [parameter.numel() for parameter in learned])
        for parameter, part in zip(learned, parts, strict=True):
            parameter.grad = part.view_as(parameter)

    def shown(self, bar: Progress) -> Progress:
        """The bar, which only the first process shows."""
        if self.first:
            return bar
        return Progress(bar.total, unit=bar.unit, label=bar.label, stream=io.StringIO())

    def wait(self) -> None:
        """Until all processes are here."""
        if self.count > 1:
            distributed.barrier()

    @contextmanager
    def after_the_first(self) -> Iterator[None]:
        """What the first process does here is done before the others begin it."""
        if not self.first:
            self.wait()
        yield
        if self.first:
            self.wait()


def is_first() -> bool:
    """Whether torchrun started this process as its first, or did not start it at all."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def joined() -> Iterator[Processes]:
    """The processes of this run: those that torchrun started (WORLD_SIZE, RANK), else this one alone."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    cuda = torch.cuda.is_available()
    if cuda:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl" if cuda else "gloo", timeout=PATIENCE)
    try:
        yield Processes(distributed.get_rank(), count)
    finally:
        distributed.destroy_process_group()
