"""The list of Globetrotter's experiments: all of it, in an order that can be run."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.reports.experiments import check_steps
from training.papers.globetrotter.experiments import (
    FIRST_SYSTEMS,
    LATER_SYSTEMS,
    OF_ELEVEN,
    RIDGE_SYSTEM,
    globetrotter,
    named,
)
from training.papers.globetrotter.study import Study
from training.papers.systems import BETWEEN_SCRIPTS, MEASURES, POOL_MEASURE, TRANSLATION_MEASURES
from training.recipes.files import shipped_recipes

DATA = Path("none")


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True))
def test_every_seed_has_the_same_steps_except_those_without_a_seed(seeds: list[int]) -> None:
    steps = [one.step for one in globetrotter(Study(DATA, tuple(seeds)))]
    check_steps(steps)
    of = [{(s.experiment.name, s.system) for s in steps if s.seed == seed} for seed in seeds]
    assert all(found == of[0] - {("sentences", RIDGE_SYSTEM)} for found in of[1:])
    assert [step.seed for step in steps] == sorted((s.seed for s in steps), key=seeds.index)


def test_all_systems_of_fig_3_are_there() -> None:
    steps = [one.step for one in globetrotter(Study(DATA, (0,)))]
    compared = {step.system for step in steps if step.experiment.name == "sentences"}
    losses = {f"without-{one}" for one in ("transitive", "visual-contrastive", "cross-modal", "cloze")}
    baselines = {"text-only", "supervised", "sigurdsson", "lample-conneau", RIDGE_SYSTEM}
    ours = {"globetrotter-mini", "globetrotter-small", "best"}
    assert compared == losses | {"without-alpha-x"} | baselines | ours
    assert {step.experiment.name for step in steps} > {"corpus", "words", "tokens", "new-language"}


def test_ceilings_are_systems_of_their_tables() -> None:
    steps = [one.step for one in globetrotter(Study(DATA, (0,)))]
    for experiment in {step.experiment for step in steps}:
        rows = {step.system for step in steps if step.experiment == experiment}
        assert not experiment.ceiling or experiment.ceiling in rows


@pytest.mark.parametrize("system", [system.recipe for system in (*FIRST_SYSTEMS, *LATER_SYSTEMS, *OF_ELEVEN)])
def test_a_system_is_a_shipped_recipe(system: str) -> None:
    assert system in shipped_recipes()


def test_every_recipe_can_be_read_for_its_key() -> None:
    for one in globetrotter(Study(DATA, (3,))):
        recipe = one.recipe()
        assert recipe.seed == (3 if one.step.system != RIDGE_SYSTEM else 0)


def test_figures_are_all_named_and_the_papers_measure_is_first() -> None:
    figures = {
        name: float(number)
        for number, name in enumerate((*TRANSLATION_MEASURES, *BETWEEN_SCRIPTS, POOL_MEASURE))
    }
    found = named(figures)
    assert next(iter(found)) == POOL_MEASURE
    assert sorted(found.values()) == sorted(figures.values())
    assert not set(BETWEEN_SCRIPTS) & set(found)
    assert found["between scripts, CSLS R@10"] == figures["scripts_csls_r10"]
    assert set(MEASURES) <= set(figures)
    assert named({POOL_MEASURE: 1.0}) == {POOL_MEASURE: 1.0}
