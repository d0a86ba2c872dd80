import json
from pathlib import Path

import pytest

from index.errors import DamagedError, UsageError
from tests.training.tiny import BAG, TRANSFORMER, recipe
from training.loop.run import create_run, open_run


def test_a_new_run_keeps_its_recipe_with_the_overrides(tmp_path: Path) -> None:
    given = recipe(TRANSFORMER, tmp_path, "optimiser.epochs=9")
    run = create_run(tmp_path / "deep" / "run", given, resume=False)
    assert open_run(run.folder).recipe == given
    assert open_run(run.folder).recipe.optimiser.epochs == 9
    assert open_run(run.folder).recipe.sha256 == given.sha256


def test_an_existing_run_is_gone_on_with_only_when_asked(tmp_path: Path) -> None:
    given = recipe(BAG, tmp_path)
    run = create_run(tmp_path / "run", given, resume=False)
    with pytest.raises(UsageError, match="already contains a run; use --resume"):
        create_run(run.folder, given, resume=False)
    assert create_run(run.folder, given, resume=True) == run


def test_a_run_is_not_resumed_with_another_recipe(tmp_path: Path) -> None:
    run = create_run(tmp_path / "run", recipe(BAG, tmp_path), resume=False)
    with pytest.raises(UsageError, match="another recipe or other --set values"):
        create_run(run.folder, recipe(BAG, tmp_path, "seed=6"), resume=True)
    assert open_run(run.folder).recipe.seed == 5


@pytest.mark.parametrize("resume", [True, False])
def test_a_folder_with_other_things_is_left_alone(tmp_path: Path, resume: bool) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "letter.txt").write_text("Dear Ada")
    with pytest.raises(UsageError, match="is not empty and contains no run"):
        create_run(folder, recipe(BAG, tmp_path), resume=resume)
    assert [file.name for file in folder.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("resume", [True, False])
def test_an_empty_folder_will_do(tmp_path: Path, resume: bool) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    assert create_run(folder, recipe(BAG, tmp_path), resume=resume).folder == folder


def test_no_run_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contains no training run"):
        open_run(tmp_path)


@pytest.mark.parametrize("damage", ["", "{", "{}", '{"objectives": {"spam": {}}}', "\x00"])
def test_a_damaged_recipe_is_named(tmp_path: Path, damage: str) -> None:
    run = create_run(tmp_path / "run", recipe(BAG, tmp_path), resume=False)
    (run.folder / "recipe.json").write_text(damage)
    with pytest.raises(DamagedError, match=r"recipe\.json") as caught:
        open_run(run.folder)
    assert "\n" not in str(caught.value)


def test_an_unfinished_run_has_no_result(tmp_path: Path) -> None:
    run = create_run(tmp_path / "run", recipe(BAG, tmp_path), resume=False)
    with pytest.raises(UsageError, match="is not a finished run"):
        run.result()
    run.finish({"sum_of_recalls": 12.5})
    assert run.result() == {"sum_of_recalls": 12.5}


def test_the_log_is_cut_back_to_a_checkpoint(tmp_path: Path) -> None:
    run = create_run(tmp_path / "run", recipe(BAG, tmp_path), resume=False)
    run.cut_log(0)
    assert run.log_size() == 0
    run.log({"step": 0})
    size = run.log_size()
    run.log({"step": 1, "loss": 0.5})
    with run.log_file.open("a") as log:
        log.write('{"step": 2, "lo')  # a line that a kill cut short
    run.cut_log(size)
    run.log({"step": 1, "loss": 0.25})
    assert list(map(json.loads, run.log_file.read_text().splitlines())) == [
        {"step": 0},
        {"step": 1, "loss": 0.25},
    ]
    run.cut_log(10_000)
    assert len(run.log_file.read_text().splitlines()) == 2, "it is never made longer"


def test_a_run_stays_with_the_data_it_began_with(tmp_path: Path) -> None:
    run = create_run(tmp_path / "run", recipe(BAG, tmp_path), resume=False)
    run.bind("a" * 64)
    run.bind("a" * 64)
    with pytest.raises(UsageError, match="trained on other data; give the same --data"):
        run.bind("b" * 64)
