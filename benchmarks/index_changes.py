"""An index under random changes against a dictionary, for longer than the tests have time for (C4 row 21).

python -m benchmarks.index_changes --runs 500 --steps 50
"""

import tempfile
from pathlib import Path

import click

from tests.bundles import make_bundle
from tests.index.build.test_changes import Changes, run_changes


@click.command()
@click.option("--runs", default=500, show_default=True)
@click.option("--steps", default=50, show_default=True)
def main(runs: int, steps: int) -> None:
    with tempfile.TemporaryDirectory(prefix="passepartout-changes-") as name:
        run_changes(make_bundle(Path(name) / "bundle"), Path(name), runs, steps)
    click.echo(f"{Changes.runs} runs, no difference")


if __name__ == "__main__":
    main()
