"""Training from shards, through the real entry points."""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from index.errors import RecipeError, TrainingError, UsageError
from tests.training.data.streaming.shards import Samples, write_parquet_shard, write_tar_shard
from tests.training.loop.test_training_loop import train_until
from tests.training.tiny import LANGUAGES, TRANSFORMER, recipe
from training.data.captions import load_split
from training.export.bundle import export_run
from training.loop.run import Run
from training.loop.training_loop import train
from training.recipes.recipe import Recipe

STREAMED = (
    "data.stream=shards",
    "data.pictures=shared",
    "data.window=40",
    "optimiser.batch_size=20",
    "optimiser.epochs=4",
)


def given(folder: Path, *more: str) -> Recipe:
    return recipe(TRANSFORMER, folder, *STREAMED, *more)


def samples(data: Path, folder: Path) -> dict[str, tuple[bytes | None, dict[str, list[str]]]]:
    """The training pictures of the drawn data, as samples."""
    train_split = load_split(data, "train", given(folder).data)
    captions: list[dict[str, list[str]]] = [{} for _ in train_split.pictures]
    for caption in train_split.captions:
        captions[caption.picture].setdefault(caption.language, []).append(caption.text)
    found = {}
    with tarfile.open(data / "photos" / "images.tar") as tar:
        for name, own in zip(train_split.pictures, captions, strict=True):
            opened = tar.extractfile(name.removeprefix("photos/"))
            assert opened is not None
            found[Path(name).stem] = (opened.read(), own)
    return found


@pytest.fixture
def sharded(data: Path, tmp_path: Path) -> Path:
    """The drawn data with its 120 training pictures as four shards of both kinds, one picture of them cut."""
    copy = shutil.copytree(data, tmp_path / "data")
    whole: Samples = samples(data, tmp_path)
    names = list(whole)
    picture, captions = whole[names[50]]
    assert picture is not None
    cut = {**whole, names[50]: (picture[:200], captions)}
    for number in range(4):
        part: Samples = {name: cut[name] for name in names[30 * number : 30 * number + 30]}
        if number % 2:
            write_parquet_shard(copy / "shards" / f"{number}.parquet", part, LANGUAGES)
        else:
            write_tar_shard(copy / "shards" / f"{number}.tar", part)
    return copy


def entries(run: Run) -> list[dict[str, Any]]:
    return list(map(json.loads, run.log_file.read_text("utf-8").splitlines()))


def test_a_run_from_shards(sharded: Path, tmp_path: Path) -> None:
    """Three windows a pass, the fourth in another order; then on to a bundle."""
    run = train(given(tmp_path, "data.bad_pictures=0.05"), sharded, tmp_path / "run")
    result = run.result()
    assert (result["pictures"], result["captions"]) == (120, 120 * 12)
    assert (result["epochs"], result["steps"]) == (4, 8)
    assert result["skipped_pictures"] == {"missing": 0, "undecodable": 1, "first": ["synthetic_00062"]}
    told = [entry for entry in entries(run) if "skipped_pictures" in entry]
    assert all(entry["skipped_pictures"] == result["skipped_pictures"] for entry in told)
    assert told
    bundle = export_run(run.folder, sharded, tmp_path / "bundle", name=None, version="1", licence="CC0-1.0")
    assert bundle.manifest.data.sha256 == result["data_sha256"]


def test_broken_and_resumed_it_comes_to_the_same_end(sharded: Path, tmp_path: Path) -> None:
    made = given(tmp_path, "data.bad_pictures=0.05")
    whole = train(made, sharded, tmp_path / "whole")
    for step in (1, 5):
        train_until(step, made, sharded, tmp_path / "run")
    run = train(made, sharded, tmp_path / "run", resume=True)
    assert entries(run) == entries(whole)
    assert run.result() | {"seconds": 0} == whole.result() | {"seconds": 0}
    ours, theirs = load_file(run.last_file), load_file(whole.last_file)
    assert all(torch.allclose(ours[key].float(), theirs[key].float(), atol=1e-5) for key in theirs)


def test_too_many_bad_pictures_in_a_window_end_the_run(sharded: Path, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="1 undecodable, synthetic_00062 first"):
        train(given(tmp_path), sharded, tmp_path / "run")


def test_other_shards_are_not_gone_on_with(sharded: Path, tmp_path: Path) -> None:
    made = given(tmp_path, "data.bad_pictures=0.05")
    train_until(5, made, sharded, tmp_path / "run")
    (sharded / "shards" / "0.tar").unlink()
    with pytest.raises(UsageError, match="contains other shards than the run began with"):
        train(made, sharded, tmp_path / "run", resume=True)


@pytest.mark.parametrize(
    ("override", "needed"),
    [
        ("vision.training=frozen", 'vision.training = "tuned"'),
        ("data.pictures=disjoint", 'data.pictures = "shared"'),
        ("data.shuffle_pictures=true", "no data.shuffle_pictures"),
        ("data.texts=texts", "no data.texts"),
        ('data.sets=["photos","pictograms"]', "data.sets without pictograms"),
        ('data.weights={"photos":2}', "no data.weights"),
        ('tokenizer.languages=["de"]', "no tokenizer.languages"),
        ('objectives.halves={"weight": 0.3}', "no objectives.halves"),
    ],
)
def test_what_needs_all_data_at_once_is_refused(tmp_path: Path, override: str, needed: str) -> None:
    with pytest.raises(RecipeError, match=f"data.stream needs {needed}"):
        given(tmp_path, override)


def test_a_stream_stays_below_the_data_folder(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"data\.stream"):
        given(tmp_path, "data.stream=../elsewhere")
