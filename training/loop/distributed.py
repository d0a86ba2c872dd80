"""The processes that train one model together, as `torchrun` starts them, and what they exchange."""

import ctypes
import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.nn.functional as F
from torch import Tensor, distributed, nn

from index.progress import Progress

MAX_WAIT = timedelta(hours=12)  # the first process may compute features for long while the others wait
# Of <malloc.h>: mallopt's names for its parameters.
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
NEVER_TRIM = 2**31 - 1  # free bytes at the end of the heap before they are given back


@dataclass(frozen=True)
class Processes:
    """This process's number among `count`; a single process exchanges nothing."""

    number: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether this process writes the files and shows progress."""
        return self.number == 0

    def gather(self, rows: Tensor, counts: Sequence[int]) -> Tensor:
        """Gather rows (n, D) of all processes, in their order, as (N, D); `counts` is how many each has."""
        if self.count == 1:
            return rows
        padded = F.pad(rows, (0, 0, 0, max(counts) - len(rows)))
        parts = [torch.empty_like(padded) for _ in counts]
        distributed.all_gather(parts, padded)
        return torch.cat([part[:n] for part, n in zip(parts, counts, strict=True)])

    def sum(self, values: Tensor) -> Tensor:
        """Sum elementwise over all processes."""
        if self.count > 1:
            values = values.clone()
            distributed.all_reduce(values)
        return values

    def counts(self, values: Sequence[int], device: torch.device) -> list[list[int]]:
        """Gather the `values` of every process, in their order."""
        row = torch.tensor(values, dtype=torch.int64, device=device)
        return self.gather(row[None], [1] * self.count).tolist()

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replace each gradient by its sum over all processes; None stays where no process has one."""
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
        """The progress bar, silent in all processes but the first."""
        if self.first:
            return bar
        return Progress(bar.total, unit=bar.unit, label=bar.label, stream=io.StringIO())

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.count > 1:
            distributed.barrier()

    @contextmanager
    def after_the_first(self) -> Iterator[None]:
        """Run the block in the first process, then in the others."""
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
    """Join the processes that torchrun started (WORLD_SIZE, RANK); without torchrun this one is alone."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    cuda = torch.cuda.is_available()
    if cuda:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl" if cuda else "gloo", timeout=MAX_WAIT)
    try:
        yield Processes(distributed.get_rank(), count)
    finally:
        distributed.destroy_process_group()


def keep_freed_memory() -> bool:
    """Make glibc keep memory that this process frees; returns whether that could be set.

    Each training step frees tensors of megabytes, which glibc returns to the kernel at once: the next step
    gets them back as pages that fault and are zeroed one by one, a third to a half of the time of a step on
    a CPU. Other C libraries are left as they are.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(M_MMAP_MAX, 0)) and bool(mallopt(M_TRIM_THRESHOLD, NEVER_TRIM))
