"""The share of a batch's pairs that the transitive loss takes for positives (α > 0), in per cent.

    python -m benchmarks.training.positives --data DIR RUN ...

RUN is the folder of a finished run, trained with or without that loss. Both α are computed, the paper's and
the published code's, over the batches of one epoch, with dropout as in training.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import click
import torch

from training.encoders.stored import BEST
from training.loop.checkpoint import load_best
from training.loop.engine import Engine
from training.loop.prepare import prepare
from training.loop.run import open_run
from training.objectives.base import Step
from training.papers.globetrotter.transitive import Transitive

ALPHAS = {"paper": Transitive(), "published": Transitive(published=True)}


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.argument(
    "runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
def main(data: Path, runs: tuple[Path, ...]) -> None:
    """Print one JSON object: run -> α -> share of positives, mean Σα."""
    click.echo(json.dumps({str(folder): of_run(folder, data) for folder in runs}, indent=1))


@torch.no_grad()
def of_run(folder: Path, data: Path) -> dict[str, dict[str, float]]:
    """The figures of a run, means over batches."""
    run = open_run(folder)
    run.result()  # refuses a run that is not finished
    source = prepare(run, data)
    load_best(run.folder / BEST, source.model)
    engine = Engine(source.model.train(), run.recipe)
    steps = [engine.forward(chunk, engine.active(chunk)) for (chunk,) in source.batches(0)]
    return {name: positives(alpha, steps) for name, alpha in ALPHAS.items()}


def positives(loss: Transitive, steps: Sequence[Step]) -> dict[str, float]:
    """The share of pairs of two sentences with α > 0, and Σα of a sentence."""
    alphas = [loss.alpha(step).fill_diagonal_(0) for step in steps]
    pairs = sum(len(alpha) * (len(alpha) - 1) for alpha in alphas)
    share = 100 * sum(int(alpha.count_nonzero()) for alpha in alphas) / pairs
    total = sum(float(alpha.sum()) for alpha in alphas) / sum(map(len, alphas))
    return {"positives": round(share, 2), "sum_of_alpha": round(total, 3)}


if __name__ == "__main__":
    main()
