from pathlib import Path
from typing import Any

import pytest

from index.errors import RecipeError
from tests.training.tiny import BAG
from training.recipes.files import shipped_recipes
from training.recipes.recipe import Recipe, load_recipe
from training.recipes.settings import ScheduleSettings


def problem(*overrides: str, name: str = "globetrotter") -> str:
    """The one-line message of a recipe that is refused."""
    with pytest.raises(RecipeError) as caught:
        load_recipe(name, overrides)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("spam=1", "spam"),
        ("text.spam=1", "text.spam"),
        ("optimiser.spam=1", "optimiser.spam"),
        ("objectives.transitive.spam=1", "objectives.transitive.spam"),
        ("data.photographs=true", "data.photographs"),
        ("text.token_dropout=0.1", "text.token_dropout"),  # a bag's key in a transformer's table
    ],
)
def test_an_unknown_key_is_refused_by_its_name(override: str, key: str) -> None:
    assert problem(override) == f"recipe globetrotter: unknown key {key}"


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("seed=-1", "seed"),
        ("name=Two Words", "name"),
        ("data.languages=[]", "data.languages"),
        ('data.languages=["en","English"]', "data.languages"),
        ('data.languages=["en","de","en"]', "data.languages"),
        ("data.pictures=some", "data.pictures"),
        ("tokenizer.vocabulary=100", "tokenizer.vocabulary"),
        ("text.encoder=lstm", "text"),
        ("vision.views=0", "vision.views"),
        ("optimiser.epochs=0", "optimiser.epochs"),
        ("optimiser.learning_rate=0", "optimiser.learning_rate"),
        ("optimiser.learning_rate=NaN", "optimiser.learning_rate"),
        ("objectives.transitive.margin=1", "objectives.transitive.margin"),
        ("objectives.transitive.normalise=no", "objectives.transitive.normalise"),
        ("objectives.cross_modal.temperature=Infinity", "objectives.cross_modal.temperature"),
        ("objectives.cross_modal=3", "objectives.cross_modal"),
        ("objectives=3", "objectives"),
        ("objectives={}", "objectives"),
    ],
)
def test_a_value_out_of_range_is_refused_by_its_name(override: str, key: str) -> None:
    assert problem(override).startswith(f"recipe globetrotter: {key}: ")


@pytest.mark.parametrize(
    ("name", "overrides", "said"),
    [
        ("globetrotter", ["optimiser.epochs"], "write it as key=value"),
        ("globetrotter", ["=3"], "write it as key=value"),
        ("globetrotter", [""], "write it as key=value"),
        ("globetrotter", ["name.x=1"], "is a value, not a table"),
        ("globetrotter", ["data.languages.x=1"], "is a value, not a table"),
        ("globetrotter", ["vision.backbone.a.b=1"], "is a value, not a table"),
        ("globetrotter", ["vision.space=whitened"], 'space = "whitened" needs training = "frozen"'),
        ("globetrotter", ["vision.average_views=true"], 'average_views needs training = "frozen"'),
        (
            "globetrotter",
            ["objectives.visual_regression.weight=1"],
            'visual_regression needs vision.space = "whitened"',
        ),
        ("globetrotter", ["head.text=none"], "needs head.dimension = text.width"),
        ("globetrotter", ["vision.views=1"], "objectives.visual_contrastive needs"),
        (
            "globetrotter",
            ["vision.training=frozen", "vision.space=whitened"],
            "objectives.visual_contrastive needs",
        ),
        (
            "globetrotter",
            ["vision.training=frozen", "vision.average_views=true"],
            "objectives.visual_contrastive needs",
        ),
        ("globetrotter", ["text.heads=3"], "width 512 is not a multiple of heads 3"),
        ("supervised", ["data.pictures=disjoint"], 'objectives.paired needs data.pictures = "shared"'),
        ("globetrotter-mini", ["objectives.orthogonality={}"], 'needs text.encoder = "adapted"'),
        ("sigurdsson", ["objectives.cloze={}"], "needs token embeddings that all languages share"),
        (
            "best",
            ['data.sets=["pictograms"]', "data.texts="],
            "objectives.halves needs sentences: another set than pictograms, or data.texts",
        ),
        ("globetrotter", ["data.sets=[]"], "data.sets"),
        ("globetrotter", ['data.sets=["photos","photos"]'], "sets: one is named twice"),
        ("globetrotter", ['data.sets=["../photos"]'], "data.sets.0"),
        ("globetrotter", ['data.weights={"stamps":2}'], "weights: stamps is not among the sets"),
        ("globetrotter", ['data.weights={"photos":0}'], "weights: photos needs a weight above 0"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, overrides: list[str], said: str) -> None:
    assert said in problem(*overrides, name=name)


def test_an_unknown_objective_is_refused_and_the_known_ones_are_named() -> None:
    message = problem("objectives.spam.weight=1")
    assert "unknown objective spam" in message
    assert "transitive" in message


@pytest.mark.parametrize(
    ("override", "path", "value"),
    [
        ("optimiser.epochs=3", ("optimiser", "epochs"), 3),
        ("optimiser.learning_rate=2e-3", ("optimiser", "learning_rate"), 0.002),
        ("optimiser.clip_norm=null", ("optimiser", "clip_norm"), None),
        ('data.languages=["en","de"]', ("data", "languages"), ("en", "de")),
        ("data.shuffle_pictures=true", ("data", "shuffle_pictures"), True),
        ("vision.backbone=a=b", ("vision", "backbone"), "a=b"),
        ('description="x = 1"', ("description",), "x = 1"),
    ],
)
def test_an_override_is_laid_over_the_file(override: str, path: tuple[str, ...], value: object) -> None:
    found: Any = load_recipe("globetrotter", [override])
    for part in path:
        found = getattr(found, part)
    assert found == value
    assert type(found) is type(value)


def test_a_missing_key_is_refused_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(BAG.replace("epochs = 4\n", ""), "utf-8")
    assert "optimiser.epochs: Field required" in problem(name=str(file))


@pytest.mark.parametrize("content", [b"name = ", b"name = 'a'\nname = 'b'\n", b"\xff\xfe\x00"])
def test_bad_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(content)
    assert f"{file} is not valid TOML" in problem(name=str(file))


def test_an_unknown_name_lists_the_shipped_recipes() -> None:
    message = problem(name="globtrotter")
    assert message.startswith("no recipe globtrotter; ")
    assert all(name in message for name in shipped_recipes())


def test_a_recipe_survives_json() -> None:
    for name in shipped_recipes():
        recipe = load_recipe(name)
        again = Recipe.model_validate_json(recipe.model_dump_json())
        assert again == recipe
        assert again.sha256 == recipe.sha256


def test_the_hash_depends_on_values_and_not_on_layout(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(BAG, "utf-8")
    one = load_recipe(str(file))
    table = "[objectives.visual_regression]\n"
    file.write_text("# a comment\n" + BAG.replace(table, "") + table + "weight = 1\n", "utf-8")
    other = load_recipe(str(file))
    assert one == other
    assert one.sha256 == other.sha256
    assert load_recipe(str(file), ["seed=1"]).sha256 != one.sha256


NAMES = ("hinge", "caption_hinge", "cloze")


@pytest.mark.parametrize(("kept", "after"), [(True, set()), (False, {"cloze"})])
def test_what_comes_first_is_alone_for_so_many_epochs(kept: bool, after: set[str]) -> None:
    schedule = ScheduleSettings(pretraining=("cloze",), pretraining_epochs=2, keep_after_pretraining=kept)
    others = {"hinge", "caption_hinge"}
    assert [schedule.inactive(NAMES, epoch) for epoch in range(4)] == [others, others, after, after]


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (
            ScheduleSettings(pretraining=("absent",), pretraining_epochs=1),
            "absent is not one of the objectives",
        ),
        (ScheduleSettings(pretraining=("hinge",)), "need each other"),
        (ScheduleSettings(pretraining_epochs=2), "need each other"),
        (
            ScheduleSettings(pretraining=NAMES, pretraining_epochs=1, keep_after_pretraining=False),
            "no objective is left",
        ),
        (ScheduleSettings(rewarm=True), r"rewarm needs schedule\.pretraining"),
    ],
)
def test_an_impossible_schedule_is_refused(schedule: ScheduleSettings, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        schedule.check(NAMES)


def test_the_rate_rises_again_after_the_pretraining_where_it_is_asked_to() -> None:
    once, again = (
        ScheduleSettings(pretraining=("cloze",), pretraining_epochs=2, rewarm=rise) for rise in (False, True)
    )
    assert [once.rate_span(epoch, 0, 5) for epoch in range(3)] == [(0, 5)] * 3
    assert [again.rate_span(epoch, 0, 5) for epoch in range(4)] == [(0, 2), (0, 2), (2, 5), (2, 5)]
    assert again.rate_span(3, 2, 5) == (2, 5), "a round of mining begins there anyway"
