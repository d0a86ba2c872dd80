"""docs/reference/ is what the code says now."""

import inspect

import pytest

from index import errors
from passepartout import COMMANDS
from scripts import reference
from service.http.problems import ProblemType
from training.objectives.base import OBJECTIVES
from training.recipes.files import open_rooms
from training.recipes.recipe import Recipe


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_page_is_what_the_code_says(name: str) -> None:
    assert (reference.FOLDER / name).read_text("utf-8") == reference.PAGES[name](), "run `make reference`"


def test_no_other_page_claims_to_be_written_from_the_code() -> None:
    assert {path.name for path in reference.FOLDER.iterdir()} == set(reference.PAGES)


def test_nothing_that_can_be_named_is_left_out() -> None:
    commands = reference.commands()
    assert [name for name in COMMANDS if f"## passepartout {name}\n" not in commands] == []
    recipes = reference.recipes()
    open_rooms()
    assert [name for name in OBJECTIVES if f"`[objectives.{name}]`" not in recipes] == []
    assert [
        name for name in Recipe.model_fields if f"`{name}`" not in recipes and f"[{name}]" not in recipes
    ] == []
    problems = reference.problems()
    assert [kind for kind in ProblemType if f"`{kind.slug}` | {kind.status} |" not in problems] == []
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)]
    assert [kind.__name__ for kind in kinds if kind.__name__ not in problems] == []
