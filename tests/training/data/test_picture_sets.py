"""Several picture sets: whose pictures they are, how often they come, and long captions."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.errors import DataError
from tests.files import write_picture_set
from training.data.captions import Caption, CaptionedPictures, load_split
from training.data.picture_sets import epoch_shares, move_onto_first_set, read_members, set_of
from training.data.sampler import PictureSampler
from training.data.settings import DataSettings


def write_set(data: Path, name: str, captions: dict[str, list[str]], pictures: int = 12) -> None:
    """A set whose pictures 0.jpg, 1.jpg, ... have each caption of a language."""
    files = [f"{number}.jpg" for number in range(pictures)]
    rows = {
        language: [(file, text, "human") for file in files for text in texts]
        for language, texts in captions.items()
    }
    write_picture_set(data / name, dict.fromkeys(files, "train"), rows)


def settings(*languages: str, **more: object) -> DataSettings:
    return DataSettings.model_validate({"languages": languages, "sets": ["photos", "books"], **more})


@pytest.fixture
def two(tmp_path: Path) -> Path:
    write_set(tmp_path, "photos", {"en": ["a dog"], "de": ["ein Hund"]})
    write_set(tmp_path, "books", {"en": ["a goat"], "sw": ["mbuzi"]})
    return tmp_path


def test_pictures_of_one_name_are_pictures_of_two_sets(two: Path) -> None:
    data = load_split(two, "train", settings("en", "de", "sw", pictures="shared"))
    assert data.pictures == (*read_members(two, "photos", "train"), *read_members(two, "books", "train"))
    assert len(set(data.pictures)) == 24
    told = {data.pictures[c.picture]: c.text for c in data.captions if c.language == "en"}
    assert (told["photos/3.jpg"], told["books/3.jpg"]) == ("a dog", "a goat")


@pytest.mark.parametrize("pictures", ["disjoint", "pivoted", "common"])
def test_languages_share_out_the_pictures_set_by_set(two: Path, pictures: str) -> None:
    data = load_split(two, "train", settings("en", "de", "sw", pictures=pictures))
    one = load_split(two, "train", settings("en", "de", pictures=pictures, sets=["photos"]))
    assert data.pictures[: len(one.pictures)] == one.pictures
    assert data.captions[: len(one.captions)] == one.captions, "another set changes nothing in this one"
    assert {c.language for c in data.captions if set_of(data.pictures[c.picture]) == "books"} == {"en", "sw"}


def test_a_language_in_no_set_is_named(two: Path) -> None:
    with pytest.raises(DataError) as error:
        load_split(two, "train", settings("en", "fi", pictures="shared"))
    cure = """train what there is, --set 'data.languages=["de", "en", "sw"]'"""
    assert str(error.value) == f"{two} has no captions in captions/fi.tsv of photos, books: {cure}"


def test_a_language_without_captions_of_the_kinds_is_named_with_what_does_without(two: Path) -> None:
    wanted = settings("en", "de", "fi", pictures="shared", caption_kinds=["machine"])
    with pytest.raises(DataError) as error:
        load_split(two, "train", wanted)
    message = str(error.value)
    assert (
        "has no captions made by 'machine' in captions/en.tsv, captions/de.tsv, captions/fi.tsv of" in message
    )
    assert message.endswith(
        """: train what there is, --set 'data.languages=["de", "en", "sw"]' --set 'data.caption_kinds=[]'"""
    )
    assert load_split(two, "train", settings("en", "de", "sw", pictures="shared", caption_kinds=[])).captions


@given(st.floats(0.1, 6), st.floats(0.1, 6), st.integers(2, 40))
def test_weights_say_how_often_an_epoch_shows_a_picture(photos: float, books: float, batch: int) -> None:
    names = [f"photos/{n}.jpg" for n in range(60)] + [f"books/{n}.jpg" for n in range(30)]
    shares = epoch_shares(names, {"photos": photos, "books": books})
    assert shares is not None
    data = CaptionedPictures(tuple(names), tuple(Caption(row, "en", "a") for row in range(len(names))))
    sampler = PictureSampler(data, batch, 0, shares=shares)
    epochs = [sampler.batches(epoch) for epoch in range(3)]
    for batches in epochs:
        assert all(len(np.unique(rows)) == len(rows) for rows in batches), "a picture once in a batch"
        counts = np.bincount(np.concatenate(batches), minlength=90)
        assert (np.abs(counts - shares) < 1 + 1e-9).all()
        assert abs(counts.sum() - shares.sum()) < 1 + 1e-9
    assert len({len(batches) for batches in epochs}) == 1, "as many batches in each epoch"
    again = PictureSampler(data, batch, 0, shares=shares).batches(2)
    assert all(np.array_equal(one, other) for one, other in zip(epochs[2], again, strict=True))


def test_sets_get_one_mean() -> None:
    features = np.random.default_rng(0).standard_normal((2, 30, 5)).astype(np.float32)
    features[:, 20:] += 3
    names = [f"photos/{n}.jpg" for n in range(20)] + [f"pictograms/a/{n}.png" for n in range(10)]
    moved = features.copy()
    move_onto_first_set(moved, names, 26)
    assert np.array_equal(moved[:, :20], features[:, :20]), "the first set stays"
    assert np.allclose(moved[:, 20:26].mean(axis=(0, 1)), moved[:, :20].mean(axis=(0, 1)), atol=1e-5)
    shift = moved[:, 20:] - features[:, 20:]
    assert np.allclose(shift, shift[0, 0], atol=1e-5), "all alike, learned from or not"
