"""Languages that rotate over pictures, and pictures that two languages share around a pivot."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from tokenizers import Tokenizer, models

from training.data.captions import CaptionedPictures, load_split
from training.data.pictograms import is_drawing
from training.data.sampler import PictureSampler
from training.data.settings import DataSettings
from training.data.training_data import TrainingData
from training.papers.shared.suppliers import partners


def settings(**changes: object) -> DataSettings:
    return DataSettings.model_validate({"languages": ["en", "de", "pt"], **changes})


def spoken(data: CaptionedPictures) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {name: set() for name in data.pictures}
    for caption in data.captions:
        found[data.pictures[caption.picture]].add(caption.language)
    return found


@pytest.mark.parametrize("rotation", [["en"], ["pt", "en"]])
def test_a_rotation_has_all_the_pictures_and_its_own_languages_alone(data: Path, rotation: list[str]) -> None:
    every = load_split(data, "train", settings())
    found = load_split(data, "train", settings(rotation=rotation))
    assert set(found.pictures) == set(every.pictures), "as much data as the rotation over all"
    assert set(found.languages) == set(rotation)
    assert {len(languages) for languages in spoken(found).values()} == {1}


def test_around_a_pivot_each_picture_has_it_and_one_other(data: Path) -> None:
    found = spoken(load_split(data, "train", settings(pictures="pivoted")))
    assert set(found) == set(load_split(data, "train", settings()).pictures)
    assert all(len(languages) == 2 and "en" in languages for languages in found.values())
    others = [next(iter(languages - {"en"})) for languages in found.values()]
    assert abs(others.count("de") - others.count("pt")) <= 1


def test_batches_are_in_the_pivot_and_partners_in_the_others(data: Path) -> None:
    given = settings(pictures="pivoted")
    captions = load_split(data, "train", given)
    tokens = [np.asarray([number], np.int32) for number in range(len(captions.captions))]
    source = partners(TrainingData(given.languages, 0, Tokenizer(models.BPE()), captions, tokens))
    batches = PictureSampler(captions, 16, 0, given.anchors).batches(0)
    seen = [captions.captions[i] for batch in batches for i in batch]
    assert {caption.language for caption in seen} == {"en"}
    assert sorted(caption.picture for caption in seen) == list(range(len(captions.pictures)))
    draw, rows = np.random.default_rng(0), slice(0, len(batches[0]))
    ((ids, _),) = source.part(batches[0], rows, draw, torch.device("cpu"))
    for one, other in zip(batches[0], ids[:, 0].tolist(), strict=True):
        partner = captions.captions[other]
        assert partner.picture == captions.captions[one].picture
        assert partner.language != "en"


def test_a_language_may_have_drawings_alone(data: Path, tmp_path: Path) -> None:
    """Quechua: nobody captioned the photographs in it, pictograms have names."""
    data = Path(shutil.copytree(data, tmp_path / "data"))
    names = data / "pictograms" / "names"
    shutil.copy(names / "pt.tsv", names / "qu.tsv")
    found = load_split(data, "train", settings(languages=["en", "de", "qu"], sets=["photos", "pictograms"]))
    assert {len(languages) for languages in spoken(found).values()} == {1}
    own = {name for name, languages in spoken(found).items() if languages == {"qu"}}
    assert own
    assert all(map(is_drawing, own))
    dev = load_split(data, "dev", settings(languages=["en", "de", "qu"], sets=["photos", "pictograms"]))
    assert dev.languages == ("de", "en")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rotation": ["fr"]}, "rotation: fr is not among"),
        ({"rotation": ["en"], "pictures": "shared"}, "rotation needs"),
        ({"pictures": "pivoted", "languages": ["en"]}, "needs two languages"),
    ],
)
def test_what_can_not_rotate_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        settings(**changes)
