"""Pictures that can't be used, and languages with next to nothing, through the real command."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.training.tiny import BAG, FROZEN, TRANSFORMER, recipe, write_recipe
from training.data.captions import load_split
from training.loop.prepare import prepare
from training.loop.run import open_run
from training.loop.training_loop import train

ONE_EPOCH = ("optimiser.epochs=1",)


@pytest.fixture
def damaged(data: Path, tmp_path: Path) -> tuple[Path, set[str]]:
    """The drawn data, with a training picture overwritten, one renamed away, and a dev picture cut."""
    copy = shutil.copytree(data, tmp_path / "data")
    train, dev = (load_split(copy, split, recipe(BAG, tmp_path).data).pictures for split in ("train", "dev"))
    file = copy / "photos" / "images.tar"
    raw = bytearray(file.read_bytes())
    for name, what in ((train[3], "noise"), (train[7], "gone"), (dev[0], "noise")):
        header = raw.index(name.removeprefix("photos/").encode())
        if what == "noise":
            raw[header + 512 : header + 700] = bytes(188)
        else:
            raw[header : header + 512] = renamed(bytes(raw[header : header + 512]))
    file.write_bytes(raw)
    return copy, {train[3], train[7], dev[0]}


def renamed(header: bytes) -> bytes:
    """A tar header with another name, its checksum mended."""
    plain = b"other".ljust(100, b"\0") + header[100:148] + b" " * 8 + header[156:]
    return plain[:148] + f"{sum(plain):06o}\0 ".encode() + plain[156:]


def command(data: Path, out: Path, folder: Path, *sets: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "passepartout", "train", str(folder / "recipe.toml")]
    words += ["--data", str(data), "--out", str(out), *(word for pair in sets for word in ("--set", pair))]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


def test_bad_pictures_are_counted_named_and_skipped(damaged: tuple[Path, set[str]], tmp_path: Path) -> None:
    data, bad = damaged
    write_recipe(BAG, tmp_path)
    done = command(data, tmp_path / "run", tmp_path, *ONE_EPOCH, "data.bad_pictures=0.03")
    assert done.returncode == 0, done.stderr
    assert "skipped 1 missing and 2 undecodable pictures" in done.stderr
    run = open_run(tmp_path / "run")
    said = run.result()["skipped_pictures"]
    assert (said["missing"], said["undecodable"], set(said["first"])) == (1, 2, bad)
    assert json.loads(run.log_file.read_text().splitlines()[0]) == {"skipped_pictures": said}
    assert run.result()["pictures"] == 118
    assert run.result()["captions"] == 118 * 4
    prepared = prepare(run, data)
    assert not bad & {*prepared.data.captions.pictures, *prepared.validation.data.pictures}
    whole = load_split(data, "train", run.recipe.data)
    owners = {whole.pictures[c.picture]: c.language for c in whole.captions}
    assert all(
        owners[prepared.data.captions.pictures[c.picture]] == c.language
        for c in prepared.data.captions.captions
    )
    batch = np.concatenate(prepared.sampler.batches(0))
    assert len(batch) == 118


def test_beyond_the_limit_it_does_not_begin(damaged: tuple[Path, set[str]], tmp_path: Path) -> None:
    data, _ = damaged
    write_recipe(BAG, tmp_path)
    done = command(data, tmp_path / "run", tmp_path, *ONE_EPOCH)
    assert done.returncode == 1
    assert "1 of 135 pictures are missing and 2 undecodable" in done.stderr
    assert "data.bad_pictures" in done.stderr
    assert "Traceback" not in done.stderr
    assert not any((tmp_path / "run").iterdir()), "the folder is free for the corrected command"


def test_a_tuned_backbone_skips_them_as_well(damaged: tuple[Path, set[str]], tmp_path: Path) -> None:
    data, bad = damaged
    given = recipe(TRANSFORMER, tmp_path, *ONE_EPOCH, "data.bad_pictures=0.03")
    run = train(given, data, tmp_path / "run")
    assert set(run.result()["skipped_pictures"]["first"]) == bad


def test_a_resumed_run_skips_the_same_pictures(
    damaged: tuple[Path, set[str]], data: Path, tmp_path: Path
) -> None:
    """Though the archive has been mended since: the same data, the same end."""
    broken, bad = damaged
    run = train(recipe(BAG, tmp_path, "data.bad_pictures=0.03"), broken, tmp_path / "run")
    result = run.result()
    run.result_file.unlink()
    shutil.copy(data / "photos" / "images.tar", broken / "photos" / "images.tar")
    again = train(run.recipe, broken, run.folder, resume=True)
    assert again.result() | {"seconds": 0} == result | {"seconds": 0}
    assert set(result["skipped_pictures"]["first"]) == bad


@pytest.mark.parametrize(("text", "more"), [(BAG, ()), (TRANSFORMER, FROZEN)])
def test_a_language_with_a_single_caption(
    data: Path, tmp_path: Path, text: str, more: tuple[str, ...]
) -> None:
    copy = shutil.copytree(data, tmp_path / "data")
    file = copy / "photos" / "captions" / "pt.tsv"
    (first, *_) = [
        line for line in file.read_text("utf-8").splitlines() if line.startswith("synthetic_00000.jpg\t")
    ]
    file.write_text(first + "\n", "utf-8")
    write_recipe(text, tmp_path)
    done = command(copy, tmp_path / "run", tmp_path, *ONE_EPOCH, *more, "data.pictures=shared")
    assert done.returncode == 0, done.stderr
    run = open_run(tmp_path / "run")
    prepared = prepare(run, copy)
    (number,) = [i for i, c in enumerate(prepared.data.captions.captions) if c.language == "pt"]
    assert prepared.data.captions.languages == ("de", "en", "pt")
    assert prepared.data.captions.captions[number].text == first.split("\t")[1]
    drawn = np.concatenate([b for epoch in range(20) for b in prepared.sampler.batches(epoch)])
    assert number in drawn, "it is trained on"
    validations = [e for e in map(json.loads, run.log_file.read_text().splitlines()) if "epoch" in e]
    assert set(validations[0]["languages"]) == {"de", "en"}, "nothing to validate it on"


def test_a_language_without_any_caption_is_named(data: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(data, tmp_path / "data")
    file = copy / "photos" / "captions" / "pt.tsv"
    file.write_text("elsewhere.jpg\tUma bola vermelha.\thuman\n", "utf-8")
    write_recipe(BAG, tmp_path)
    done = command(copy, tmp_path / "run", tmp_path, "data.pictures=shared")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("no usable training picture has a caption in pt")
