"""Which steps are asked for, and what makes an outcome another one."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from evaluation.reports.experiments import Experiment, Outcome, Step, run_steps
from index.errors import DataError, RecipeError, UsageError
from tests.training.papers.globetrotter.conftest import TINY
from training.papers.globetrotter.study import Planned, Study, choose, identity

TOYS = Experiment("toys", "Toys", "Toys.", "score")


def done(folder: Path, needed: Mapping[str, Path]) -> Outcome:
    return Outcome(measures={"score": 1})


def planned(study: Study, system: str, *needs: str, recipe: str = "best") -> Planned:
    step = Step(TOYS, system, 1, done, study.seeds[0], needs=needs)
    return Planned(step, lambda: study.recipe(recipe, study.seeds[0]))


def names(steps: Sequence[Step]) -> list[str]:
    return [step.name for step in steps]


@pytest.fixture
def study(scenes: Path) -> Study:
    return Study(scenes, (0,), TINY)


@pytest.fixture
def chain(study: Study) -> list[Planned]:
    """a <- b <- c, and d by itself."""
    needs: dict[str, tuple[str, ...]] = {"a": (), "b": ("toys.a.0",), "c": ("toys.b.0",), "d": ()}
    return [planned(study, system, *needs[system]) for system in needs]


def test_all_without_a_pattern(chain: list[Planned], study: Study, tmp_path: Path) -> None:
    assert names(choose(chain, study, [], tmp_path)) == ["toys.a.0", "toys.b.0", "toys.c.0", "toys.d.0"]


def test_what_is_asked_for_brings_what_it_needs(chain: list[Planned], study: Study, tmp_path: Path) -> None:
    assert names(choose(chain, study, ["toys.b.*"], tmp_path)) == ["toys.a.0", "toys.b.0"]
    assert names(choose(chain, study, ["*.c.0", "toys.d.0"], tmp_path)) == names([p.step for p in chain])


def test_what_is_finished_stays_in_the_report(chain: list[Planned], study: Study, tmp_path: Path) -> None:
    run_steps(choose(chain, study, ["toys.a.0", "toys.d.0"], tmp_path), tmp_path, 100)
    assert names(choose(chain, study, ["toys.d.0"], tmp_path)) == ["toys.a.0", "toys.d.0"]
    other = Study(study.data, (0,), (*TINY, "tokenizer.vocabulary=301"))
    chain = [planned(other, "a"), planned(other, "d")]
    assert names(choose(chain, other, ["toys.d.0"], tmp_path)) == ["toys.d.0"], "that was another recipe"


def test_a_pattern_without_a_match_is_refused(chain: list[Planned], study: Study, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--only spam: no such step.*EXPERIMENT.SYSTEM.SEED.*toys"):
        choose(chain, study, ["toys.a.0", "spam"], tmp_path)


def test_overrides_need_to_fit_what_is_asked_for_alone(scenes: Path, tmp_path: Path) -> None:
    study = Study(scenes, (0,), ("text.heads=2",))
    both = [planned(study, "a", recipe="best"), planned(study, "b", recipe="globetrotter-mini")]
    assert names(choose(both, study, ["toys.b.0"], tmp_path)) == ["toys.b.0"]
    with pytest.raises(RecipeError, match=r"recipe best: unknown key text\.heads"):
        choose(both, study, [], tmp_path)


def test_recipe_seed_and_data_are_the_key(scenes: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(scenes, data)
    keys = set()

    def key(study: Study, recipe: str = "best") -> str:
        (step,) = choose([planned(study, "a", recipe=recipe)], study, [], tmp_path / "out")
        keys.add(step.key)
        return step.key

    assert key(Study(data, (0,))) == key(Study(scenes, (0,))), "wherever the data lie"
    key(Study(data, (1,)))
    key(Study(data, (0,), ("optimiser.epochs=3",)))
    key(Study(data, (0,)), recipe="supervised")
    with (data / "text" / "multi30k_train.de.txt").open("a", encoding="utf-8") as file:
        file.write("Ein Ball.\n")
    key(Study(data, (0,)))
    assert len(keys) == 5


def test_the_seed_of_a_step_is_its_own(scenes: Path) -> None:
    study = Study(scenes, (0, 7), ("seed=5",))
    assert study.recipe("best", 7).seed == 7


def test_missing_data_are_reported(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"images\.tar: cannot be read .*docs/data\.md"):
        identity(tmp_path)
