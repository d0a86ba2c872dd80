"""Rounds of mining: before some epochs, pseudopairs are looked for with the encoder as it then is."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from index.errors import DamagedError
from training.data.pairs import Pseudopairs
from training.encoders.two_branch import TwoBranch
from training.loop.mining import Pairs, mine
from training.loop.run import Run
from training.loop.validation import embed_texts
from training.recipes.settings import MiningSettings


def take_up_round(
    run: Run, epoch: int, source: Pseudopairs, model: TwoBranch, device: torch.device
) -> dict[str, int]:
    """Give `source` the pairs that `epoch` trains on; how many there are, by languages, if a round begins.

    A round's pairs are kept in the run's folder, so that a run which goes on in the midst of it has the same.
    """
    settings = run.recipe.mining
    round_epoch = last_round(epoch, settings) if settings else None
    if settings is None or round_epoch is None:
        return {}
    file = run.pseudopairs_file(round_epoch)
    if source.file == file:
        return {}
    if file.is_file():
        source.read(file)
    elif round_epoch == epoch:
        source.pairs = _mine(source, epoch, model, device, settings)
        source.write(file)
    else:
        raise DamagedError(f"{file} is missing; train again into another folder")
    counts = {f"{first}-{second}": len(rows) for (first, second), rows in sorted(source.pairs.items())}
    return counts if round_epoch == epoch else {}


def last_round(epoch: int, settings: MiningSettings) -> int | None:
    """The epoch before which the round was held that `epoch` trains on; None before the first."""
    return None if epoch < settings.begin else epoch - (epoch - settings.begin) % settings.every


def stage(epoch: int, epochs: int, settings: MiningSettings | None) -> tuple[int, int]:
    """The epochs, first and past the last, from the round before `epoch` (or the start) to the next."""
    if settings is None:
        return 0, epochs
    round_epoch = last_round(epoch, settings)
    start, stop = (0, settings.begin) if round_epoch is None else (round_epoch, round_epoch + settings.every)
    return start, min(stop, epochs)


def _mine(
    source: Pseudopairs, epoch: int, model: TwoBranch, device: torch.device, settings: MiningSettings
) -> dict[tuple[str, str], Pairs]:
    was_training = model.training
    model.eval()
    sampled = {
        language: _draw(len(rows), settings.sentences, [source.seed, epoch, *language.encode()])
        for language, rows in source.tokens.items()
    }
    with torch.inference_mode():
        vectors = {
            language: embed_texts(model, [source.tokens[language][i] for i in rows], device)
            for language, rows in sampled.items()
        }
    model.train(was_training)
    pairs = mine(vectors, keep=settings.keep, neighbours=settings.neighbours, seed=source.seed)
    return {
        (first, second): np.stack([sampled[first][rows[:, 0]], sampled[second][rows[:, 1]]], axis=1)
        for (first, second), rows in pairs.items()
    }


def _draw(count: int, most: int, seed: Sequence[int]) -> NDArray[np.int64]:
    """The numbers below `count`, or `most` of them, in order."""
    return np.sort(np.random.default_rng(seed).permutation(count)[:most])
