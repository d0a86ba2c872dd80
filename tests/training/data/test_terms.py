"""Licences of sets and texts, and recipes that ask for open ones."""

from pathlib import Path

import pytest

from index.errors import DataError
from tests.training.tiny import BAG, recipe
from training.data.settings import DataSettings
from training.data.terms import data_terms, require_open
from training.loop.prepare import prepare
from training.loop.run import create_run
from training.recipes.recipe import load_recipe

STATED = 'title = "Our pictures"\nlicence = "CC0-1.0"\nopen = true\ncredits = ["Ada"]\n'


def settings(*sets: str, **more: object) -> DataSettings:
    return DataSettings.model_validate({"languages": ["en"], "sets": sets, **more})


def state(data: Path, name: str, text: str) -> None:
    (data / name).mkdir(parents=True)
    (data / name / "set.toml").write_text(text, "utf-8")


def test_a_folder_states_its_terms(tmp_path: Path) -> None:
    state(tmp_path, "ours", STATED)
    (terms,) = data_terms(tmp_path, settings("ours")).values()
    assert (terms.title, terms.licence) == ("Our pictures", "CC0-1.0")
    assert (terms.open, terms.credits) == (True, ("Ada",))


def test_what_a_folder_states_comes_before_what_is_known(tmp_path: Path) -> None:
    assert not data_terms(tmp_path, settings("photos"))["photos"].open
    state(tmp_path, "photos", STATED)
    assert data_terms(tmp_path, settings("photos"))["photos"].open


def test_texts_have_terms_too(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "ours.toml").write_text(STATED, "utf-8")
    assert data_terms(tmp_path, settings("photos", texts="ours"))["text/ours"].licence == "CC0-1.0"


def test_a_set_that_is_a_text_has_the_terms_of_the_set(tmp_path: Path) -> None:
    state(tmp_path, "ours", STATED)
    (tmp_path / "ours" / "splits.tsv").write_text("a.jpg\ttrain\n", "utf-8")
    terms = data_terms(tmp_path, settings("photos", texts=["ours", "photos"]))
    assert terms.keys() == {"photos", "ours"}
    assert terms["ours"].open


def test_what_nobody_states_is_not_open(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^ours is not openly licensed \(none stated\): change data.sets"):
        require_open(data_terms(tmp_path, settings("ours")), settings("ours", open_licences=True))
    require_open(data_terms(tmp_path, settings("ours")), settings("ours"))


@pytest.mark.parametrize("closed", ["photos", "stamps"])
def test_the_open_recipe_refuses_sets_that_are_not(tmp_path: Path, closed: str) -> None:
    given = load_recipe("open").data
    require_open(data_terms(tmp_path, given), given)
    more = given.model_copy(update={"sets": [*given.sets, closed]})
    with pytest.raises(DataError, match=f"^{closed} is not openly licensed"):
        require_open(data_terms(tmp_path, more), more)


def test_a_run_does_not_begin_on_what_it_refuses(data: Path, tmp_path: Path) -> None:
    run = create_run(tmp_path / "run", recipe(BAG, tmp_path, "data.open_licences=true"), resume=False)
    with pytest.raises(DataError, match="photos is not openly licensed"):
        prepare(run, data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('title = "A"\n', "set.toml: licence: Field required"),
        ('title = "A"\nlicence = "B"\nfree = true\n', "set.toml: free: Extra inputs"),
        ("title = ", "set.toml can't be read"),
        ('title = "A"\nlicence = "B"\ncredits_file = "../a.tsv"\n', "set.toml: credits_file"),
    ],
)
def test_malformed_terms_are_named(tmp_path: Path, text: str, message: str) -> None:
    state(tmp_path, "ours", text)
    with pytest.raises(DataError, match=message):
        data_terms(tmp_path, settings("ours"))
