"""Pseudopairs: what is found by the run that comes before, and a run that is trained with them."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer, models

from index.arrays import unit
from index.encoder.bundle import TOKENIZER
from tests.training.tiny import BAG, recipe
from training.data.captions import Caption, CaptionedPictures
from training.data.training_data import TrainingData
from training.encoders.stored import BEST
from training.loop.run import LOG, open_run
from training.loop.training_loop import train
from training.papers.pseudopairs.transferred import nearest, transferred

# What differs from the tiny bag: Kádár et al.'s encoder, losses and picture branch.
GRU = (
    "name=tiny-gru",
    "tokenizer.kind=words",
    'text={"encoder": "gru", "embedding": 12, "width": 16, "max_tokens": 24, "start": "stages"}',
    "vision.space=learned",
    "head.pictures=linear",
    'objectives={"hinge": {}, "transferred_hinge": {"filter": "bottom"}, "transferred_caption_hinge": {}}',
    "stages=[{}]",
    "optimiser.epochs=2",
    "optimiser.learning_rate=1e-9",
    "optimiser.warmup_steps=0",
    "optimiser.schedule=constant",
)
CPU = torch.device("cpu")


@pytest.mark.parametrize("share", [1.0, 0.25, 0.75])
def test_each_caption_gets_its_nearest_in_each_other_language(share: float) -> None:
    draw = np.random.default_rng(0)
    given = {code: unit(draw.standard_normal((n, 6))) for code, n in (("en", 40), ("de", 32), ("pt", 20))}
    found = nearest(given, share)
    assert set(found) == {(a, b) for a in given for b in given if a != b}
    for (one, other), rows in found.items():
        products = given[one] @ given[other].T
        kept = np.sort(np.argsort(-products.max(axis=1))[: round(share * len(products))])
        assert rows[:, 0].tolist() == kept.tolist(), "the most alike"
        assert rows[:, 1].tolist() == products.argmax(axis=1)[kept].tolist()


def test_a_picture_gets_what_its_captions_find_and_its_own_where_they_find_nothing() -> None:
    """Caption i is the token 10 + i; of two pairs from English only the better one is kept."""
    spoken = [(0, "en"), (0, "en"), (1, "de"), (2, "de")]
    captions = CaptionedPictures(("a", "b", "c"), tuple(Caption(p, code, "x") for p, code in spoken))
    vectors = unit(np.asarray([[1.0, 0.1], [0.3, 1.0], [0.0, 1.0], [1.0, 0.0]], np.float32))
    tokens = [np.asarray([10 + i], np.int32) for i in range(4)]
    data = TrainingData(
        ("en", "de"), 0, Tokenizer(models.BPE()), captions, tokens,
        embed=lambda rows: vectors[[int(row[0]) - 10 for row in rows]],
    )  # fmt: skip
    every = slice(0, 4)
    for share, shown in ((1.0, [13, 12, 11, 10]), (0.5, [13, 11, 12, 10])):
        supplier = transferred(data, share)
        assert supplier is not None
        supplied = supplier.part(np.arange(4), every, np.random.default_rng(0), CPU)
        assert supplied[0][0][:, 0].tolist() == shown
    anew = TrainingData(("en", "de"), 0, Tokenizer(models.BPE()), captions, tokens)
    assert transferred(anew, 1.0) is None


def test_it_goes_on_from_the_vocabulary_and_the_weights_of_the_stage_before(
    data: Path, tmp_path: Path
) -> None:
    tuned = train(recipe(BAG, tmp_path, *GRU), data, tmp_path / "run")
    before = open_run(tuned.folder.with_name("run-1"))
    assert (before.folder / TOKENIZER).read_bytes() == (tuned.folder / TOKENIZER).read_bytes()
    start, end = load_file(before.folder / BEST), load_file(tuned.folder / BEST)
    assert start.keys() == end.keys()
    assert all(torch.allclose(start[name], end[name], atol=1e-6) for name in start), "at hardly any rate"
    first, second = ((run.folder / LOG).read_text("utf-8") for run in (before, tuned))
    assert '"transferred_hinge": 0.0' in first, "there is nothing yet to find anything with"
    assert '"transferred_hinge": 0.0' not in second
    assert '"transferred_caption_hinge": 0.0' not in second


def test_a_run_ends_when_its_patience_does(data: Path, tmp_path: Path) -> None:
    settings = ("optimiser.learning_rate=1e-12", "optimiser.epochs=50", "run.patience=3", "text.start=")
    result = train(recipe(BAG, tmp_path, *GRU, *settings), data, tmp_path / "run").result()
    assert result["epochs"] == result["best_epoch"] + 3 < 50
