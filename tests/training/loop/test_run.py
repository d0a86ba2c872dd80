import json
from pathlib import Path

import pytest

from index.errors import DamagedError
from tests.training.tiny import BAG, TRANSFORMER, recipe
from training.loop.run import LOG, create_run, open_run


def test_a_new_run_keeps_its_recipe_with_the_overrides(tmp_path: Path) -> None:
    given = recipe(TRANSFORMER, tmp_path, "optimiser.epochs=9")
    run = create_run(tmp_path / "deep" / "run", given, resume=False)
    assert open_run(run.folder).recipe == given
    assert open_run(run.folder).recipe.optimiser.epochs == 9
    assert open_run(run.folder).recipe.sha256 == given.sha256


@pytest.mark.parametrize("damage", ["", "{", "{}", '{"objectives": {"spam": {}}}', "\x00"])
def test_a_damaged_recipe_is_named(tmp_path: Path, damage: str) -> None:
    run = create_run(tmp_path / "run", recipe(BAG, tmp_path), resume=False)
    (run.folder / "recipe.json").write_text(damage)
    with pytest.raises(DamagedError, match=r"recipe\.json") as caught:
        open_run(run.folder)
    assert "\n" not in str(caught.value)


def test_the_log_is_cut_back_to_a_checkpoint(tmp_path: Path) -> None:
    run = create_run(tmp_path / "run", recipe(BAG, tmp_path), resume=False)
    run.cut_log(0)
    assert run.log_size() == 0
    run.log({"step": 0})
    size = run.log_size()
    run.log({"step": 1, "loss": 0.5})
    with (run.folder / LOG).open("a") as log:
        log.write('{"step": 2, "lo')  # a line that a kill cut short
    run.cut_log(size)
    run.log({"step": 1, "loss": 0.25})
    assert list(map(json.loads, (run.folder / LOG).read_text().splitlines())) == [
        {"step": 0},
        {"step": 1, "loss": 0.25},
    ]
    run.cut_log(10_000)
    assert len((run.folder / LOG).read_text().splitlines()) == 2, "it is never made longer"
