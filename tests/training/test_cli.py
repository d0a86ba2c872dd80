"""`passepartout train` and `bundle export` through the front door: what they say, and exit codes."""

import shutil
from pathlib import Path

import pytest

from index.encoder.bundle import open_bundle
from tests.conftest import Fails, Says
from tests.training.tiny import BAG, write_recipe
from training.loop.run import LAST, Run


def trains(file: Path, data: Path, out: Path, *more: str) -> list[str]:
    return ["train", str(file), "--data", str(data), "--out", str(out), *more]


def exports(run: Path, data: Path, out: Path, *more: str) -> list[str]:
    return ["bundle", "export", str(run), "--data", str(data), "--out", str(out), *more]


@pytest.mark.usefixtures("bag_run")  # which leaves the pictures' features in the cache
def test_training_says_where_how_long_and_how_well(data: Path, tmp_path: Path, says: Says) -> None:
    out = tmp_path / "run"
    printed = says(*trains(write_recipe(BAG, tmp_path), data, out, "--set", "optimiser.epochs=1"))
    assert printed.out.startswith(f"{out}: 1 epochs in ")
    assert "sum of recalls" in printed.out
    assert printed.err.splitlines()[-1].startswith("train tiny-bag 1/1 epochs")
    assert len(printed.err.splitlines()) == 1, "a progress line, and no talk of the libraries'"
    assert (out / "best.safetensors").is_file()


def test_a_finished_run_is_reported_again_and_left_alone(data: Path, bag_run: Run, says: Says) -> None:
    file = bag_run.folder.parent / "recipe.toml"
    before = (bag_run.folder / LAST).stat().st_mtime_ns
    printed = says(*trains(file, data, bag_run.folder, "--resume"))
    assert f"at epoch {bag_run.result()['best_epoch']}" in printed.out
    assert (bag_run.folder / LAST).stat().st_mtime_ns == before


def test_an_existing_run_is_not_started_over(data: Path, bag_run: Run, fails: Fails) -> None:
    file = bag_run.folder.parent / "recipe.toml"
    assert "already contains a run; use --resume" in fails(*trains(file, data, bag_run.folder))


def test_another_recipe_does_not_resume_a_run(data: Path, bag_run: Run, fails: Fails) -> None:
    words = trains(bag_run.folder.parent / "recipe.toml", data, bag_run.folder, "--resume", "--set", "seed=9")
    assert "another recipe or other --set values" in fails(*words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["globetrotter", "--data", ".", "--set", "spam=1"], "unknown key spam"),
        (["globetrotter", "--data", ".", "--set", "spam"], "write it as key=value"),
        (["globetrotter"], "give --data DIR"),
        (["globetrotter", "--data", "no/such/folder"], "splits.tsv cannot be read"),
        (["spam", "--smoke"], "no recipe spam"),
    ],
)
def test_wrong_use_is_one_line(tmp_path: Path, fails: Fails, words: list[str], said: str) -> None:
    assert said in fails("train", *words, "--out", str(tmp_path / "run"))


def test_smoke_never_writes_into_a_folder_in_use(tmp_path: Path, fails: Fails) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine").write_text("keep")
    assert "is not empty" in fails("train", "globetrotter", "--smoke", "--out", str(tmp_path))
    assert [file.name for file in tmp_path.rglob("*")] == ["data", "mine"]


@pytest.mark.parametrize("option", [["--data", "."], ["--resume"]])
def test_smoke_takes_no_data_and_no_run(tmp_path: Path, fails: Fails, option: list[str]) -> None:
    said = fails("train", "small", "--smoke", "--out", str(tmp_path / "new"), *option)
    assert "leave out --data and --resume" in said
    assert not (tmp_path / "new").exists()


def test_export_says_what_it_made(data: Path, bag_run: Run, tmp_path: Path, says: Says) -> None:
    out = tmp_path / "bundle"
    words = exports(bag_run.folder, data, out, "--name", "mine")
    printed = says(*words, "--version", "3", "--licence", "CC0-1.0")
    manifest = open_bundle(out).manifest
    assert (manifest.name, manifest.version, manifest.licence) == ("mine", "3", "CC0-1.0")
    assert printed.out == f"{out}: mine@3, 16 dimensions, {manifest.precision}\n"
    assert printed.err == "", "no talk of the exporter's"


@pytest.mark.parametrize(
    ("option", "value"), [("--name", "Two Words"), ("--version", ""), ("--version", "a/b")]
)
def test_a_name_that_no_bundle_has_is_refused_before_the_work(
    data: Path, bag_run: Run, tmp_path: Path, fails: Fails, option: str, value: str
) -> None:
    assert f"passepartout: {option}: " in fails(*exports(bag_run.folder, data, tmp_path / "b", option, value))
    assert list(tmp_path.iterdir()) == []


def test_an_unfinished_run_is_not_exported(data: Path, bag_run: Run, tmp_path: Path, fails: Fails) -> None:
    copy = shutil.copytree(bag_run.folder, tmp_path / "run")
    (copy / "result.json").unlink()
    words = exports(copy, data, tmp_path / "bundle")
    assert "is not a finished run; continue it with passepartout train --resume" in fails(*words)
    assert not (tmp_path / "bundle").exists()


def test_what_is_no_run_is_not_exported(data: Path, tmp_path: Path, fails: Fails) -> None:
    assert "contains no training run" in fails(*exports(tmp_path, data, tmp_path / "bundle"))
