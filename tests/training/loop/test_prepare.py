import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from index.arrays import unit
from index.encoder.bundle import TOKENIZER
from index.errors import DamagedError
from tests.training.tiny import BAG, SIZE, recipe
from training.data.captions import CaptionedPictures, load_split
from training.data.folder import open_pictures
from training.data.pictograms import is_drawing
from training.data.tokens import train_tokenizer
from training.encoders.features import features_of_collection
from training.encoders.vision import Backbone
from training.loop.prepare import picture_sources, prepare, vocabulary
from training.loop.run import Run, create_run
from training.papers.united.halves import HalvesSupplier


def test_the_vocabulary_is_learned_once_and_kept(data: Path, tmp_path: Path) -> None:
    run = create_run(tmp_path / "run", recipe(BAG, tmp_path), resume=False)
    train = load_split(data, "train", run.recipe.data)
    first = vocabulary(run, train, {}, run.recipe.text)
    assert first.get_vocab_size() <= 300
    assert run.tokenizer().to_str() == first.to_str()
    other = train_tokenizer(["a zyzzyva"] * 9, run.recipe.tokenizer, sequence_token=False, max_tokens=9)
    other.save(str(run.folder / TOKENIZER))
    assert vocabulary(run, train, {}, run.recipe.text).to_str() == other.to_str(), (
        "reopened, not learned again"
    )
    (run.folder / TOKENIZER).write_text("{")
    with pytest.raises(DamagedError, match=r"tokenizer\.json can't be read"):
        vocabulary(run, train, {}, run.recipe.text)


def test_dev_captions_do_not_leak_into_the_vocabulary(data: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(data, tmp_path / "data")
    splits = (copy / "photos" / "splits.tsv").read_text("utf-8").splitlines()
    dev = {line.split("\t")[0] for line in splits if line.endswith("\tdev")}
    for file in (copy / "photos" / "captions").iterdir():
        rows = [line.split("\t") for line in file.read_text("utf-8").splitlines()]
        told = [[name, "zyzzyva " * 5 if name in dev else text, kind] for name, text, kind in rows]
        file.write_text("".join("\t".join(row) + "\n" for row in told), "utf-8")
    found = []
    for number, folder in enumerate((data, copy)):
        run = create_run(tmp_path / f"run{number}", recipe(BAG, tmp_path), resume=False)
        found.append(
            vocabulary(run, load_split(folder, "train", run.recipe.data), {}, run.recipe.text).to_str()
        )
    assert found[0] == found[1]
    assert "zyzzyva" in (copy / "photos" / "captions" / "en.tsv").read_text("utf-8")


def test_the_fixed_space_is_fitted_on_training_pictures_alone(
    data: Path, bag_run: Run, backbone: Backbone, tmp_path: Path
) -> None:
    archive = open_pictures(data, bag_run.recipe.data, SIZE)
    train, dev = (load_split(data, split, bag_run.recipe.data) for split in ("train", "dev"))
    rows = np.arange(len(train.pictures))
    shown = []
    for number, others in enumerate((dev.pictures, dev.pictures[:3])):
        run = create_run(tmp_path / str(number), bag_run.recipe, resume=False)
        source, _ = picture_sources(run, archive, backbone, train, CaptionedPictures(others, ()))
        shown.append(source.plain(rows))
        space = run.picture_space()
        features = features_of_collection(backbone, archive, train.pictures, 2)
        views = unit((features - space.mean) @ space.projection)
        # Each view on the unit sphere, then their mean.
        assert np.allclose(shown[-1].numpy(), views.mean(axis=0), atol=1e-5)
    assert torch.equal(*shown)


def test_the_control_shuffles_training_pictures_and_no_others(
    data: Path, tmp_path: Path, bag_run: Run
) -> None:
    run = create_run(tmp_path / "run", recipe(BAG, tmp_path, "data.shuffle_pictures=true"), resume=False)
    mixed, plain = prepare(run, data), prepare(bag_run, data)
    captions, before = mixed.data.captions, plain.data.captions
    assert captions.pictures == before.pictures
    assert [c.text for c in captions.captions] == [c.text for c in before.captions]
    moved = [a.picture != b.picture for a, b in zip(captions.captions, before.captions, strict=True)]
    assert sum(moved) > 450
    assert mixed.validation.data == plain.validation.data


def test_drawings_are_trained_on_together_with_photographs(data: Path, tmp_path: Path, bag_run: Run) -> None:
    run = create_run(
        tmp_path / "run", recipe(BAG, tmp_path, 'data.sets=["photos","pictograms"]'), resume=False
    )
    both, plain = prepare(run, data), prepare(bag_run, data)
    count, total = len(plain.data.captions.pictures), len(both.data.captions.pictures)
    assert total > count + 50
    assert both.validation.data == plain.validation.data
    space = both.pictures.plain(np.arange(total)).numpy()
    assert space.shape == (total, 16)
    between = np.linalg.norm(space[:count].mean(axis=0) - space[count:].mean(axis=0))
    assert between < 0.2, "what every drawing has in common is no part of the space"
    seen = {row for batch in both.sampler.batches(0) for row in batch}
    assert {both.data.captions.captions[row].picture for row in seen} == set(range(total))


@pytest.mark.slow
def test_names_of_drawings_are_mined_among_but_have_no_halves(data: Path, tmp_path: Path) -> None:
    settings = (
        'data.sets=["photos","pictograms"]',
        "objectives.halves={}",
        "objectives.pseudopairs={}",
        "mining.begin=1",
    )
    run = create_run(tmp_path / "run", recipe(BAG, tmp_path, *settings, "mining.every=1"), resume=False)
    made = prepare(run, data)
    halves = made.suppliers["halves"]
    assert isinstance(halves, HalvesSupplier)
    drawn = Counter(
        caption.language
        for caption in made.data.captions.captions
        if is_drawing(made.data.captions.pictures[caption.picture])
    )
    assert len(drawn) > 1
    for language, sentences in made.data.pseudopairs.tokens.items():
        # What has one token has no halves either: no photograph's caption is as short.
        assert len(halves.tokens[language]) == len(sentences) - drawn[language]
