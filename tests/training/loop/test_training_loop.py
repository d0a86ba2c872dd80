import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from index.errors import TrainingError, UsageError
from tests.training.tiny import BAG, FROZEN, PICTURES, SIZE, TRANSFORMER, recipe, train_until
from training.encoders.stored import BEST
from training.export.bundle import export_run
from training.loop import engine
from training.loop import training_loop as loop
from training.loop.checkpoint import load_best, load_last
from training.loop.prepare import prepare
from training.loop.run import LAST, LOG, Run, open_run
from training.loop.training_loop import learning_rate, train
from training.objectives.base import weighted_losses
from training.recipes.settings import OptimiserSettings
from training.smoke.drawings import write_synthetic

OFTEN = ("run.checkpoint_every=2", "optimiser.epochs=4")


def entries(run: Run) -> list[dict[str, Any]]:
    return list(map(json.loads, (run.folder / LOG).read_text("utf-8").splitlines()))


def outcome(run: Run) -> dict[str, Any]:
    return {name: value for name, value in run.result().items() if name != "seconds"}


def last_step(data: Path, run: Path) -> int:
    model = prepare(open_run(run), data).model
    return load_last(run / LAST, model, torch.optim.Adam(model.parameters())).step


def settings(**table: object) -> OptimiserSettings:
    return OptimiserSettings.model_validate({"epochs": 1, "batch_size": 2, "learning_rate": 2.0, **table})


@pytest.mark.parametrize(
    ("table", "rates"),
    [
        ({}, [2, 2, 2, 2, 2]),
        ({"warmup_steps": 4}, [0.5, 1, 1.5, 2, 2]),
        ({"schedule": "linear"}, [2, 1.5, 1, 0.5, 0]),
        ({"schedule": "linear", "warmup_steps": 2}, [1, 1.5, 1, 0.5, 0]),
    ],
)
def test_the_rate_rises_and_falls_as_the_recipe_says(table: dict[str, object], rates: list[float]) -> None:
    assert [learning_rate(settings(**table), step, 4) for step in range(5)] == rates


def test_the_log_holds_what_a_plot_needs(bag_run: Run) -> None:
    log = entries(bag_run)
    steps = [entry for entry in log if "step" in entry]
    assert [entry["step"] for entry in steps] == [0, 10]
    for entry in steps:
        parts = [entry[name] for name in ("visual_regression", "cross_modal", "transitive")]
        assert entry["loss"] == pytest.approx(sum(parts), abs=1e-5)
        rate = learning_rate(bag_run.recipe.optimiser, entry["step"], 16)
        assert entry["learning_rate"] == pytest.approx(rate)
    validations = [entry for entry in log if "epoch" in entry]
    assert [entry["epoch"] for entry in validations] == [1, 2, 3, 4]
    for entry in validations:
        assert set(entry["languages"]) == {"en", "de", "pt"}
        assert entry["sum_of_recalls"] == pytest.approx(sum(entry["languages"].values()) / 3, abs=0.01)


def test_the_result_says_what_was_done(bag_run: Run) -> None:
    result = bag_run.result()
    assert (result["epochs"], result["steps"]) == (4, 16)
    assert result["pictures"] == 120
    assert result["captions"] == 480
    assert result["seconds"] >= 0
    validations = {e["epoch"]: e["sum_of_recalls"] for e in entries(bag_run) if "epoch" in e}
    assert result["sum_of_recalls"] == max(validations.values())
    assert result["best_epoch"] == max(validations, key=lambda epoch: (validations[epoch], -epoch))


def test_a_later_epoch_that_is_worse_or_no_better_does_not_become_the_best(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = iter([100.0, 300.0, 300.0, 200.0])
    monkeypatch.setattr(loop, "validate", lambda *_: {"en": next(told), "de": 0.0})
    run = train(recipe(BAG, tmp_path), data, tmp_path / "run")
    assert (run.result()["sum_of_recalls"], run.result()["best_epoch"]) == (150, 2)
    assert load_best(run.folder / BEST, prepare(run, data).model).epoch == 2
    best, last = load_file(run.folder / BEST), load_file(run.folder / LAST)
    assert not torch.equal(best["model.text.tokens.weight"], last["model.text.tokens.weight"])


def test_it_validates_as_often_as_the_recipe_says_and_at_the_end(data: Path, tmp_path: Path) -> None:
    run = train(recipe(BAG, tmp_path, "run.validate_every=3"), data, tmp_path / "run")
    assert [entry["epoch"] for entry in entries(run) if "epoch" in entry] == [3, 4]


def test_a_seed_decides_everything(data: Path, tmp_path: Path, transformer_run: Run) -> None:
    again = train(recipe(TRANSFORMER, tmp_path, *FROZEN), data, tmp_path / "again")
    other = train(recipe(TRANSFORMER, tmp_path, *FROZEN, "seed=6"), data, tmp_path / "other")
    assert entries(again) == entries(transformer_run)
    assert entries(other) != entries(transformer_run)
    ours, theirs = load_file(again.folder / BEST), load_file(transformer_run.folder / BEST)
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


@pytest.fixture(scope="module")
def unbroken(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Whole runs that save every second epoch."""
    runs = {}
    for name, (text, *overrides) in SYSTEMS.items():
        folder = tmp_path_factory.mktemp(name)
        runs[name] = train(recipe(text, folder, *overrides), data, folder / "run")
    return runs


SYSTEMS: dict[str, tuple[str, ...]] = {
    "bag": (BAG, *OFTEN),
    "tuned": (TRANSFORMER, "optimiser.batch_size=64"),
}


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        # Before any checkpoint; right after one; an epoch later: the log and the best one are ahead of it.
        ("bag", [1, 8, 14]),
        ("tuned", [3]),
    ],
)
def test_an_interrupted_run_ends_with_the_same_result(
    data: Path, tmp_path: Path, unbroken: dict[str, Run], name: str, steps: list[int]
) -> None:
    whole = unbroken[name]
    given = recipe(SYSTEMS[name][0], tmp_path, *SYSTEMS[name][1:])
    for step in steps:
        train_until(step, given, data, tmp_path / "run")
    run = train(given, data, tmp_path / "run", resume=True)
    assert entries(run) == entries(whole)
    assert outcome(run) == outcome(whole)
    ours, theirs = load_file(run.folder / BEST), load_file(whole.folder / BEST)
    assert set(ours) == set(theirs)
    assert all(torch.allclose(ours[key], theirs[key], atol=1e-5) for key in theirs)


def test_a_loss_that_is_not_finite_ends_the_run_and_keeps_the_last_checkpoint(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = recipe(BAG, tmp_path, *OFTEN)
    real, calls = weighted_losses, 0

    def poisoned(*arguments: Any) -> dict[str, Tensor]:  # noqa: ANN401
        nonlocal calls
        calls += 1
        losses = real(*arguments)
        return losses | {"cross_modal": losses["cross_modal"] * float("nan")} if calls == 11 else losses

    monkeypatch.setattr(engine, "weighted_losses", poisoned)
    with pytest.raises(TrainingError, match="the loss is not finite at step 10") as caught:
        train(given, data, tmp_path / "run")
    assert "optimiser.learning_rate" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert last_step(data, tmp_path / "run") == 8
    assert not (tmp_path / "run" / "result.json").exists()


def test_weights_that_are_not_finite_reach_no_checkpoint(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, steps = torch.optim.Adam.step, 0

    def overflowing(optimiser: torch.optim.Adam) -> None:
        nonlocal steps
        steps += 1
        real(optimiser)
        if steps == 16:  # the last step before the second checkpoint
            optimiser.param_groups[0]["params"][0].data[0, 0] = float("inf")

    monkeypatch.setattr(torch.optim.Adam, "step", overflowing)
    with pytest.raises(TrainingError, match="weights are not finite at step 16"):
        train(recipe(BAG, tmp_path, *OFTEN), data, tmp_path / "run")
    assert last_step(data, tmp_path / "run") == 8


def test_clipping_and_decay_are_the_recipes(data: Path, tmp_path: Path, transformer_run: Run) -> None:
    prepared = prepare(transformer_run, data)
    decayed = loop._optimiser(prepared.model, transformer_run.recipe.optimiser)
    assert isinstance(decayed, torch.optim.AdamW)
    assert decayed.defaults["weight_decay"] == 0.01
    assert type(loop._optimiser(prepared.model, settings())) is torch.optim.Adam
    free = train(recipe(TRANSFORMER, tmp_path, *FROZEN, "optimiser.clip_norm=null"), data, tmp_path / "run")
    assert entries(free) != entries(transformer_run)


def test_a_run_is_neither_resumed_nor_exported_with_other_data(
    bag_run: Run, data: Path, tmp_path: Path
) -> None:
    run = shutil.copytree(bag_run.folder, tmp_path / "run")
    (run / "result.json").unlink()
    other = tmp_path / "other"
    write_synthetic(other, pictures=PICTURES, size=SIZE, seed=2)
    shutil.copytree(data / "weights", other / "weights")
    with pytest.raises(UsageError, match="trained on other data"):
        train(bag_run.recipe, other, run, resume=True)
    with pytest.raises(UsageError, match="trained on other data"):
        export_run(bag_run.folder, other, tmp_path / "bundle", name=None, version="1", licence="CC0-1.0")
    assert (run / "recipe.json").is_file()
