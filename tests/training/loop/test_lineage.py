"""What an encoder was made from goes with it: the terms, credits and cost of all that it goes on from."""

import re
import shutil
from pathlib import Path

import pytest

from index.encoder.bundle import Bundle, open_bundle, publish_bundle, staging_folder
from index.encoder.lineage import Lineage, TrainingSource
from index.errors import DataError
from tests.training.tiny import BAG, recipe
from training.export.bundle import export_run
from training.export.card import model_card
from training.loop.prepare import prepare
from training.loop.run import LINEAGE, Run, create_run, lineage_of
from training.loop.training_loop import train
from training.recipes.recipe import load_recipe

ADA = TrainingSource(title="Ada's pictures", licence="CC BY 4.0", open=True, credits=("Ada",))
BEFORE = Lineage(sources={"before": ADA}, epochs=7, seconds=70.5)


def bundle_of(bundle: Bundle, out: Path, lineage: Lineage | None) -> Path:
    """The bundle again, made from something else."""
    manifest = bundle.manifest.model_copy(update={"lineage": lineage})
    with staging_folder(out, bundle.folder) as staging:
        return publish_bundle(staging, out, manifest).folder


def begun(start: Path, data: Path, folder: Path, *more: str) -> Run:
    """A run that goes on from `start`, before its first step."""
    given = recipe(BAG, folder.parent, f"text.start={start}", "text.start_merges=0", *more)
    run = create_run(folder, given, resume=False)
    prepare(run, data)
    return run


def noted(run: Run) -> Lineage:
    return Lineage.model_validate_json((run.folder / LINEAGE).read_bytes())


def test_a_run_notes_what_it_learns_from(bag_run: Run, bag_bundle: Bundle) -> None:
    lineage, result = lineage_of(bag_run.folder), bag_run.result()
    assert [(name, source.open) for name, source in lineage.sources.items()] == [("photos", False)]
    assert (lineage.epochs, lineage.seconds, lineage.unknown) == (result["epochs"], result["seconds"], ())
    assert bag_bundle.manifest.lineage == lineage == lineage_of(bag_bundle.folder)


def test_a_bundle_credits_what_it_goes_on_from_through_run_and_bundle(
    bag_bundle: Bundle, data: Path, tmp_path: Path
) -> None:
    start = bundle_of(bag_bundle, tmp_path / "start", BEFORE)
    once = recipe(BAG, tmp_path, f"text.start={start}", "text.start_merges=0", "optimiser.epochs=1")
    second = train(once, data, tmp_path / "second")
    bundle_of(bag_bundle, start, None)  # what it was is noted
    third = train(once.after(second.folder), data, tmp_path / "third")
    bundle = export_run(third.folder, data, tmp_path / "out", name=None, version="1", licence="CC0-1.0")
    lineage, card = bundle.manifest.lineage, bundle.card.read_text("utf-8")
    assert lineage is not None
    assert open_bundle(bundle.folder).manifest.lineage == lineage
    assert list(lineage.sources) == ["before", "photos"]
    assert lineage.epochs == 7 + 1 + 1
    spent = sum(run.result()["seconds"] for run in (second, third))
    assert lineage.seconds == pytest.approx(70.5 + spent, abs=0.11)
    assert "| `before`: Ada's pictures | CC BY 4.0 |" in card
    assert "Credits of `before`: Ada." in card
    assert f"| training | 9 epochs, {lineage.seconds} s, all runs together; best" in card
    assert "not recorded" not in card


def test_what_does_not_say_what_it_was_made_from_is_named(
    bag_run: Run, bag_bundle: Bundle, data: Path, tmp_path: Path
) -> None:
    silent = bundle_of(bag_bundle, tmp_path / "silent", None)
    run = begun(silent, data, tmp_path / "run")
    assert noted(run).unknown == ("tiny-bag@7",)
    assert list(noted(run).sources) == ["photos"]
    card = model_card(
        run.recipe, bag_bundle.manifest.model_copy(update={"lineage": noted(run)}), bag_run.result()
    )
    assert "all runs together, without `tiny-bag@7`, of unknown cost; best epoch" in card
    assert "It goes on from `tiny-bag@7`. What was learned there is not recorded" in card
    shutil.copytree(bag_run.folder, tmp_path / "old")
    (tmp_path / "old" / "lineage.json").unlink()
    assert lineage_of(tmp_path / "old") == Lineage(unknown=("old",))
    assert lineage_of(tmp_path / "nowhere") == Lineage(unknown=("nowhere",))


def test_it_is_noted_once(bag_bundle: Bundle, data: Path, tmp_path: Path) -> None:
    run = begun(bundle_of(bag_bundle, tmp_path / "start", BEFORE), data, tmp_path / "run")
    bundle_of(bag_bundle, tmp_path / "start", None)
    prepare(run, data)
    assert noted(run).unknown == ()


def test_a_run_that_asks_for_open_licences_refuses_to_go_on_from_what_has_none(
    bag_bundle: Bundle, data: Path, tmp_path: Path
) -> None:
    shutil.copytree(data, tmp_path / "data")
    (tmp_path / "data" / "photos" / "set.toml").write_text('title = "A"\nlicence = "CC0-1.0"\nopen = true\n')
    asked = "data.open_licences=true"
    begun(bundle_of(bag_bundle, tmp_path / "a", BEFORE), tmp_path / "data", tmp_path / "run", asked)
    closed = Lineage(sources={"closed": ADA.model_copy(update={"open": False})})
    start = bundle_of(bag_bundle, tmp_path / "b", closed)
    with pytest.raises(DataError, match=r"^closed is not openly licensed \(CC BY 4.0\)"):
        begun(start, tmp_path / "data", tmp_path / "other", asked)


def test_sources_of_one_name_are_credited_together() -> None:
    bob = TrainingSource(title=ADA.title, licence="CC0-1.0", credits=("Bob", "Ada"))
    joined = BEFORE.joined(
        Lineage(sources={"before": bob, "more": bob}, unknown=("x",), epochs=1, seconds=0.2)
    )
    assert joined.sources["before"] == TrainingSource(
        title="Ada's pictures", licence="CC BY 4.0; CC0-1.0", credits=("Ada", "Bob")
    )
    assert (list(joined.sources), joined.epochs, joined.seconds) == (["before", "more"], 8, 70.7)


@pytest.mark.parametrize("name", ["open", "small"])
def test_the_shipped_bundles_say_what_all_their_versions_learned_from(name: str) -> None:
    bundle = open_bundle(Path(__file__).parents[3] / "models" / name)
    lineage = bundle.manifest.lineage
    assert lineage is not None
    result = {"pictures": 0, "captions": 0, "best_epoch": 0}
    (terms,), (shipped,) = (
        re.findall(r"^## Terms.*?(?=^## )", card, re.DOTALL | re.MULTILINE)
        for card in (model_card(load_recipe(name), bundle.manifest, result), bundle.card.read_text("utf-8"))
    )
    assert shipped == terms, "the manifest and the card say the same"
    assert {"text/massive", "text/storyweaver", "text/commonvoice", "text/corpora/everyday"} <= set(
        lineage.sources
    )
    assert all(source.open for source in lineage.sources.values()) == (name == "open")
    assert ("text/subtitles" in lineage.sources) == (name == "small")
    assert f"{name}-kin" in lineage.unknown
