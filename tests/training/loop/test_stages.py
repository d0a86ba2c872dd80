"""A recipe in stages: each begins with the encoder that the one before ended with."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from index.errors import RecipeError
from tests.training.tiny import BAG, recipe
from training.encoders.stored import BEST, TABLE
from training.loop.prepare import prepare
from training.loop.run import open_run
from training.loop.training_loop import train

STAGED = (
    'stages=[{"optimiser": {"epochs": 2}}, {"optimiser": {"epochs": 1}, "text": {"start_merges": 0}}]',
    "text.start=stages",
    "text.start_merges=20",
    "optimiser.epochs=1",
    "optimiser.learning_rate=1e-9",
)


def test_each_stage_is_a_run_that_goes_on_from_the_one_before(data: Path, tmp_path: Path) -> None:
    run = train(recipe(BAG, tmp_path, *STAGED), data, tmp_path / "run")
    stages = [open_run(tmp_path / name) for name in ("run-1", "run-2", "run")]
    assert [stage.result()["epochs"] for stage in stages] == [2, 1, 1]
    assert [stage.recipe.text.model_dump()["start"] for stage in stages] == [
        "",
        str(tmp_path / "run-1"),
        str(tmp_path / "run-2"),
    ]
    sizes = [stage.tokenizer().get_vocab_size() for stage in stages]
    assert sizes[0] == sizes[1] < sizes[2] <= sizes[0] + 20
    tables = [load_file(stage.folder / BEST)[TABLE] for stage in stages]
    np.testing.assert_allclose(tables[2][: sizes[0]], tables[1], atol=1e-5, err_msg="at hardly any rate")
    spaces = [stage.picture_space() for stage in stages]
    np.testing.assert_array_equal(spaces[0].projection, spaces[2].projection)
    assert prepare(run, data).model.text.tokens.num_embeddings == sizes[2]


def test_an_interrupted_stage_is_gone_on_with(data: Path, tmp_path: Path) -> None:
    given = recipe(BAG, tmp_path, *STAGED)
    before = load_file(train(given, data, tmp_path / "run").folder / BEST)
    for name in ("run-2", "run"):  # as if it had been stopped in the second
        for file in (tmp_path / name).iterdir():
            if file.name != "recipe.json":
                file.unlink()
    again = train(given, data, tmp_path / "run", resume=True)
    assert np.allclose(load_file(again.folder / BEST)[TABLE], before[TABLE], atol=1e-6)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (('stages=[{"optimiser": {"epochs": 2}}]',), 'stages needs text.start = "stages"'),
        (('stages=[{"optimiser": {"epochs": 0}}]', "text.start=stages"), r"stages\[0\]: optimiser\.epochs"),
        (('stages=[{}, {"nothing": 1}]', "text.start=stages"), r"stages\[1\]: unknown key nothing"),
    ],
)
def test_a_stage_that_is_wrong_is_named(tmp_path: Path, overrides: tuple[str, ...], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        recipe(BAG, tmp_path, *overrides)
