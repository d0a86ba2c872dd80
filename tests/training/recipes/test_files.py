from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.errors import RecipeError
from tests.training.tiny import BAG
from training.recipes.files import TomlTable, merged, shipped_recipes
from training.recipes.recipe import load_recipe

CHANGED = """
extends = "base.toml"
name = "changed"
description = "One key"
[objectives.cross_modal]
weight = 0.5
"""


def write(folder: Path, **files: str) -> Path:
    """NAME.toml a file; the folder."""
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text, "utf-8")
    return folder


def problem(file: Path) -> str:
    with pytest.raises(RecipeError) as caught:
        load_recipe(str(file))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_recipe_of_the_package_is_found_and_no_two_share_a_name() -> None:
    assert len(shipped_recipes()) == len([*Path(str(resources.files("training"))).rglob("recipes/*.toml")])
    assert all(load_recipe(name).name == name for name in shipped_recipes())


def test_a_recipe_overrides_the_keys_of_the_one_it_extends(tmp_path: Path) -> None:
    write(tmp_path, base=BAG, changed=CHANGED)
    base, changed = load_recipe(str(tmp_path / "base.toml")), load_recipe(str(tmp_path / "changed.toml"))
    assert (changed.name, changed.description) == ("changed", "One key")
    assert changed.objectives["cross_modal"].weight == 0.5
    same = {"name": base.name, "description": base.description, "objectives": base.objectives}
    assert changed.model_copy(update=same) == base


def test_what_it_is_without_is_gone(tmp_path: Path) -> None:
    text = CHANGED.replace("[obj", 'without = ["objectives.transitive", "text"]\n[text]\nencoder="bag"\n[obj')
    text += "[head]\ndimension = 256\n"
    recipe = load_recipe(str(write(tmp_path, base=BAG, changed=text) / "changed.toml"))
    assert set(recipe.objectives) == {"visual_regression", "cross_modal"}
    assert recipe.text.width == 256, "the default, as nothing of the table is left"


def test_a_shipped_recipe_is_extended_by_its_name(tmp_path: Path) -> None:
    text = 'extends = "globetrotter-small"\nname = "mine"\ndescription = "d"\nseed = 4'
    mine = load_recipe(str(write(tmp_path, mine=text) / "mine.toml"))
    theirs = load_recipe("globetrotter-small", ["seed=4", "name=mine", "description=d"])
    assert mine == theirs
    assert mine.sha256 == theirs.sha256, "what a recipe says counts, not how it was written"


@pytest.mark.parametrize("key", ["name", "description"])
def test_a_name_is_not_inherited(key: str, tmp_path: Path) -> None:
    lines = [line for line in CHANGED.splitlines() if not line.startswith(key)]
    file = write(tmp_path, base=BAG, changed="\n".join(lines)) / "changed.toml"
    assert problem(file) == f"recipe {file}: {key}: Field required"


def test_circles_are_refused(tmp_path: Path) -> None:
    write(tmp_path, one='extends = "two.toml"', two='extends = "one.toml"', self='extends = "self.toml"')
    assert "one extends two extends one" in problem(tmp_path / "one.toml")
    assert "self extends self" in problem(tmp_path / "self.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CHANGED + "spam = 1", "unknown key objectives.cross_modal.spam"),
        (CHANGED.replace("base.toml", "base"), "extends base, which is no file beside it and none of"),
        (CHANGED.replace('"base.toml"', "3"), "extends: give one recipe's name or file"),
        ('without = ["objectives.cloze"]' + CHANGED, "without objectives.cloze, which base.toml does not"),
        ('without = ["seed.spam"]' + CHANGED, "without seed.spam, which base.toml does not have"),
        ('without = "objectives"' + CHANGED, "without: give a list of keys"),
        ('without = ["objectives"]\n' + BAG, "without needs extends"),
    ],
)
def test_errors_name_the_file(text: str, said: str, tmp_path: Path) -> None:
    file = write(tmp_path, base=BAG, changed=text) / "changed.toml"
    assert problem(file).startswith(f"recipe {file}")
    assert said in problem(file)


tables = st.recursive(
    st.dictionaries(st.sampled_from("abc"), st.integers()),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner | st.integers()),
    max_leaves=8,
)


@given(tables, tables)
def test_the_upper_table_wins_and_no_key_of_the_lower_is_lost(lower: TomlTable, upper: TomlTable) -> None:
    found = merged(lower, upper)
    assert merged(found, upper) == found
    assert merged(lower, {}) == lower
    assert set(found) == set(lower) | set(upper)
    assert all(found[key] == value for key, value in upper.items() if not isinstance(value, dict))
    assert all(found[key] == lower[key] for key in set(lower) - set(upper))
