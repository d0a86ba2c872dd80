"""Checkpoints as safetensors: a model, its optimiser and a run's counters. No pickles."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from index.errors import DamagedError
from index.storage.files import fsync

MODEL, OPTIMISER = "model.", "optimiser."


@dataclass(frozen=True)
class Counters:
    """Where a run stands: epochs and steps done, the best validation and its epoch, the log's size in bytes,
    seconds so far (epochs, mining, validations)."""

    epoch: int = 0
    step: int = 0
    best: float = float("-inf")
    best_epoch: int = 0
    log_size: int = 0
    seconds: float = 0.0


def save_last(file: Path, model: nn.Module, optimiser: torch.optim.Optimizer, counters: Counters) -> None:
    """Write everything that an exact continuation needs."""
    tensors = _prefixed(MODEL, model.state_dict())
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= _prefixed(f"{OPTIMISER}{number}.", state)
    _write(file, tensors, counters)


def save_best(file: Path, model: nn.Module, counters: Counters) -> None:
    """Write the model alone."""
    _write(file, _prefixed(MODEL, model.state_dict()), counters)


def load_last(file: Path, model: nn.Module, optimiser: torch.optim.Optimizer) -> Counters:
    """Restore model and optimiser in place. What is drawn depends on seed, epoch and batch alone."""
    tensors, counters = _read(file)
    _restore_model(file, model, tensors)
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith(OPTIMISER):
            number, key = name.removeprefix(OPTIMISER).split(".", 1)
            state.setdefault(int(number), {})[key] = tensor
    if not state:
        raise DamagedError(f"{file} holds a model without its optimiser; train from scratch")
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
    return counters


def load_best(file: Path, model: nn.Module) -> Counters:
    """Restore the model in place."""
    tensors, counters = _read(file)
    _restore_model(file, model, tensors)
    return counters


def _prefixed(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    # Copies: tied tensors share memory, which safetensors refuses.
    return {prefix + name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}


def _restore_model(file: Path, model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    weights = {name.removeprefix(MODEL): t for name, t in tensors.items() if name.startswith(MODEL)}
    try:
        model.load_state_dict(weights)
    except RuntimeError:
        raise DamagedError(f"{file} does not fit the run's recipe; train into another folder") from None


def _write(file: Path, tensors: dict[str, Tensor], counters: Counters) -> None:
    part = file.with_suffix(".part")
    save_file(tensors, part, metadata={"counters": json.dumps(asdict(counters))})
    fsync(part)
    part.replace(file)
    fsync(file.parent)


def _read(file: Path) -> tuple[dict[str, Tensor], Counters]:
    try:
        with safe_open(file, framework="pt") as opened:
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 (not a dict)
            counters = Counters(**json.loads(opened.metadata()["counters"]))
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedError(f"{file} is not a readable checkpoint: {error}") from None
    return tensors, counters
