from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models

from index.errors import DataError
from training.data.auxiliary import SUPPLIERS
from training.data.captions import Caption, CaptionedPictures
from training.data.training_data import TrainingData
from training.recipes.files import open_rooms

open_rooms()  # the papers register their suppliers
CPU = torch.device("cpu")
LANGUAGES = ("de", "en", "pt")
# Caption i is the token 10 + i.
SPOKEN = [(0, "en"), (0, "de"), (0, "en"), (1, "pt"), (1, "en")]
CAPTIONS = CaptionedPictures(("a.jpg", "b.jpg"), tuple(Caption(p, language, "x") for p, language in SPOKEN))
ALONE = CaptionedPictures((*CAPTIONS.pictures, "c.jpg"), (*CAPTIONS.captions, Caption(2, "pt", "x")))


def given(
    name: str,
    rows: list[int],
    seed: int = 0,
    captions: CaptionedPictures = CAPTIONS,
) -> Any:  # noqa: ANN401 (sentences or rows)
    """What a supplier gives for captions of some pictures."""
    tokens = [np.array([10 + i], np.int32) for i in range(len(captions.captions))]
    supplier = SUPPLIERS[name](TrainingData(LANGUAGES, 0, Tokenizer(models.BPE()), captions, tokens))
    assert supplier is not None
    supplier.begin(len(rows), 0, 0)
    return supplier.part(np.array(rows), slice(0, len(rows)), np.random.default_rng(seed), CPU)


def drawn(name: str, draws: int, captions: CaptionedPictures = CAPTIONS) -> list[set[int]]:
    """For each caption the captions that were drawn for it."""
    seen: list[set[int]] = [set() for _ in captions.captions]
    for seed in range(draws):
        ((ids, mask),) = given(name, list(range(len(seen))), seed, captions)
        assert mask.all()
        for caption, token in enumerate(ids[:, 0].tolist()):
            seen[caption].add(token - 10)
    return seen


def test_languages_are_places_in_the_recipes_list() -> None:
    assert given("languages", [4, 3, 1]).tolist() == [[1], [2], [0]]


def test_a_partner_is_a_caption_of_the_picture_in_another_language() -> None:
    assert drawn("partners", 30) == [{1}, {0, 2}, {1}, {4}, {3}], "and each of them is drawn"


def test_a_picture_in_one_language_is_refused_by_name() -> None:
    with pytest.raises(DataError, match=r"c\.jpg has captions in pt alone; it needs"):
        given("partners", [0], captions=ALONE)


def test_a_neighbour_is_another_caption_of_the_picture_in_whatever_language() -> None:
    assert drawn("neighbours", 40, ALONE) == [{1, 2}, {0, 2}, {0, 1}, {4}, {3}, {5}], (
        "itself where there is no other"
    )
