"""Running statistics of batch normalisation when a batch comes in chunks, views and processes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from training.loop.distributed import Processes


@contextmanager
def still_statistics(model: nn.Module) -> Iterator[None]:
    """Freeze the running statistics; batches are still normalised by their own."""
    layers = _normalisations(model)
    for layer in layers:
        layer.track_running_stats = False
    try:
        yield
    finally:
        for layer in layers:
            layer.track_running_stats = True


@contextmanager
def pooled_statistics(model: nn.Module, processes: Processes) -> Iterator[None]:
    """Update the running statistics once, by the mean over a step's chunks, views and processes.

    They are the same in every process, and do not depend on how many chunks and processes there are.
    """
    layers = _normalisations(model)
    before = [[buffer.clone() for buffer in _buffers(layer)] for layer in layers]
    momenta = [layer.momentum for layer in layers]
    for layer in layers:
        layer.momentum = None  # a plain mean from here on
        _buffers(layer)[2].zero_()
    try:
        yield
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
    if layers:
        _move(layers, before, processes)


@torch.no_grad()
def _move(layers: Sequence[_BatchNorm], before: Sequence[Sequence[Tensor]], processes: Processes) -> None:
    """Move the statistics from those `before` towards those of this step in all processes."""
    sums: list[Tensor] = []
    for mean, variance, batches in map(_buffers, layers):
        sums += [mean * batches, variance * batches, batches[None].to(mean.dtype)]
    total = iter(torch.split(processes.sum(torch.cat(sums)), [len(part) for part in sums]))
    for layer, (mean, variance, steps) in zip(layers, before, strict=True):
        means, variances, count = next(total), next(total), next(total)
        momentum = 1 / (steps + 1) if layer.momentum is None else torch.full_like(count, layer.momentum)
        share = momentum * (count > 0)
        count = count.clamp(min=1)
        new = (
            mean.lerp(means / count, share),
            variance.lerp(variances / count, share),
            steps + (share > 0)[0],
        )
        for buffer, value in zip(_buffers(layer), new, strict=True):
            buffer.copy_(value)


def _normalisations(model: nn.Module) -> list[_BatchNorm]:
    """The batch normalisations that keep running statistics."""
    layers = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    return [layer for layer in layers if layer.track_running_stats and layer.running_mean is not None]


def _buffers(layer: _BatchNorm) -> tuple[Tensor, Tensor, Tensor]:
    """Running mean, running variance and number of batches."""
    assert layer.running_mean is not None
    assert layer.running_var is not None
    assert layer.num_batches_tracked is not None
    return layer.running_mean, layer.running_var, layer.num_batches_tracked
