from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models

from index.errors import DamagedError
from training.data.captions import Caption, CaptionedPictures
from training.data.sampler import PictureSampler
from training.data.training_data import TrainingData
from training.papers.pseudopairs.transfer import (
    TransferredCaption,
    TransferSampler,
    read_transferred,
    write_transferred,
)

PICTURES = 40
OWN = CaptionedPictures(
    tuple(f"{i}.jpg" for i in range(PICTURES)),
    tuple(
        Caption(i, "en" if i < PICTURES // 2 else "de", f"caption {i} {n}")
        for i in range(PICTURES)
        for n in "ab"
    ),
)
# The first caption of each of the first ten pictures stands beside two of German, the second beside none.
TRANSFERRED = [
    TransferredCaption(2 * i, "de", f"caption {20 + i + n} a", 0.5 + n / 10)
    for i in range(10)
    for n in (0, 1)
]
DATA = TrainingData(("en", "de"), 0, Tokenizer(models.BPE()), OWN, (), transferred=TRANSFERRED)
SHOWN = DATA.shown


def sampler(share: float, seed: int = 0) -> TransferSampler:
    return TransferSampler(PictureSampler(OWN, 8, seed), SHOWN, len(OWN.captions), share, seed)


def test_transferred_captions_follow_with_the_picture_of_their_partner() -> None:
    assert SHOWN.captions[: len(OWN.captions)] == OWN.captions
    assert SHOWN.pictures == OWN.pictures
    for one, caption in zip(TRANSFERRED, SHOWN.captions[len(OWN.captions) :], strict=True):
        own = OWN.captions[one.caption]
        assert (caption.picture, caption.language, caption.text) == (own.picture, "de", one.text)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_transferred(tmp_path / "given.tsv", OWN, TRANSFERRED)
    assert read_transferred(tmp_path / "given.tsv", OWN) == TRANSFERRED
    first = (tmp_path / "given.tsv").read_text("utf-8").splitlines()[0].split("\t")
    assert first == ["0.jpg", "en", "caption 0 a", "de", "caption 20 a", "0.5000"]


@pytest.mark.parametrize(
    "text", ["", "0.jpg\ten\n", "other.jpg\ten\ta\tde\tb\t0.5\n", "0.jpg\ten\tx\tde\tb\t1\n"]
)
def test_a_file_about_other_captions_is_damage(tmp_path: Path, text: str) -> None:
    (tmp_path / "given.tsv").write_text(text)
    with pytest.raises(DamagedError, match="damaged or about other captions; train again"):
        read_transferred(tmp_path / "given.tsv", OWN)


def test_each_picture_comes_once_an_epoch_with_its_own_or_a_given_caption() -> None:
    for epoch in range(3):
        batches = sampler(0.5).batches(epoch)
        shown = [SHOWN.captions[i].picture for batch in batches for i in batch]
        assert sorted(shown) == list(range(PICTURES))
        assert [len(batch) for batch in batches] == [len(b) for b in sampler(0.5).sampler.batches(epoch)]


def test_the_share_is_that_of_pictures_which_were_given_some() -> None:
    own, counts = len(OWN.captions), Counter[int]()
    for epoch in range(200):
        for i in np.concatenate(sampler(0.3).batches(epoch)):
            counts[SHOWN.captions[i].picture] += i >= own
    given = [counts[picture] for picture in range(10)]
    assert np.mean(given) / 200 == pytest.approx(0.3, abs=0.03)
    assert not any(counts[picture] for picture in range(10, PICTURES)), "others keep their own"


def test_batches_depend_on_seed_and_epoch_alone() -> None:
    one, other = sampler(0.5), sampler(0.5)
    one.batches(0)
    assert all(np.array_equal(a, b) for a, b in zip(one.batches(4), other.batches(4), strict=True))
    assert any(
        not np.array_equal(a, b) for a, b in zip(one.batches(4), sampler(0.5, 1).batches(4), strict=True)
    )


def test_c2c_pairs_are_transferred_captions_and_their_partners() -> None:
    tokens = [np.asarray([10 + i], np.int32) for i in range(len(SHOWN.captions))]
    data = TrainingData(("en", "de"), 0, Tokenizer(models.BPE()), OWN, tokens[: len(OWN.captions)])
    data = replace(data, transferred=TRANSFERRED)
    vars(data)["shown_tokens"] = tokens
    pairs = data.pseudopairs
    assert list(pairs.pairs) == [("en", "de")]
    found = pairs.draw(64, 0, 0)
    assert found is not None
    beside = {(10 + one.caption, 10 + len(OWN.captions) + i) for i, one in enumerate(TRANSFERRED)}
    drawn = {(int(a[0]), int(b[0])) for a, b in found}
    assert drawn <= beside
    assert len(drawn) > 10
