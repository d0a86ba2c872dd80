"""Captions a second that a step learns from, by recipe: one for each kind of text encoder.

    python -m benchmarks.training.step_speed --data DIR [--recipe NAME ...] [--epochs 3]

Picture features are computed before and kept, by the first run that needs them. The time is the processor's,
of epochs without validation, the median of all but the first; one thread. After a recipe's name, KEY=VALUE
lays another value over it: `globetrotter-mini optimiser.length_groups=1` pads each batch to its longest.
"""

import json
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import torch

from training.loop.prepare import prepare
from training.loop.run import create_run
from training.loop.training_loop import Loop
from training.recipes.recipe import load_recipe

RECIPES = (
    "globetrotter-mini",
    "globetrotter-mini optimiser.length_groups=1",
    "bag-of-subwords",
    "caption-tuning-small",
    "pseudopairs-start-small",
    "mule-small-plain",
    "smalr-hybrid-small",
)


class Timed(Loop):
    """Notes the processor's time at the end of every epoch, where others validate and save."""

    def run_epochs(self) -> None:
        self.ends = [time.process_time()]
        super().run_epochs()

    def _keep(self, epoch: int) -> None:
        self.ends.append(time.process_time())


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--recipe", "recipes", multiple=True, default=RECIPES, help="Name, then KEY=VALUE.")
@click.option("--epochs", type=click.IntRange(2), default=3, show_default=True, help="Of each.")
def main(data: Path, recipes: tuple[str, ...], epochs: int) -> None:
    """Print one JSON object: recipe -> captions a second, milliseconds a step, captions a step."""
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder:
        figures = {
            named: measure(named, data, Path(folder) / str(n), epochs) for n, named in enumerate(recipes)
        }
    click.echo(json.dumps(figures, indent=1))


def measure(named: str, data: Path, folder: Path, epochs: int) -> dict[str, float]:
    """The figures of a recipe; `folder` is its run's."""
    name, *overrides = named.split()
    recipe = load_recipe(name, [*overrides, f"optimiser.epochs={epochs}"])
    run = create_run(folder, recipe, resume=False)
    loop = Timed(run, prepare(run, data))
    loop.run_epochs()
    spent = [after - before for before, after in zip(loop.ends, loop.ends[1:], strict=False)]
    seconds = statistics.median(spent[1:])
    steps = loop.counters.step // epochs
    size = recipe.optimiser.batch_size
    return {
        "captions_a_second": round(steps * size / seconds),
        "ms_a_step": round(1000 * seconds / steps, 1),
        "captions_a_step": size,
    }


if __name__ == "__main__":
    main()
