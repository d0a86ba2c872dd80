import numpy as np
import pytest
import torch

from index.errors import DataError
from training.data.captions import Caption, CaptionedPictures
from training.data.companions import CompanionSource

CPU = torch.device("cpu")
LANGUAGES = ("de", "en", "pt")
# Caption i is the token 10 + i.
SPOKEN = [(0, "en"), (0, "de"), (0, "en"), (1, "pt"), (1, "en")]
DATA = CaptionedPictures(("a.jpg", "b.jpg"), tuple(Caption(p, language, "x") for p, language in SPOKEN))
TOKENS = [np.array([10 + i], np.int32) for i in range(len(SPOKEN))]
EVERY = np.arange(len(SPOKEN))


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_languages_are_places_in_the_recipes_list() -> None:
    found = CompanionSource(DATA, LANGUAGES, TOKENS).of(EVERY[[4, 3, 1]], draw(), CPU)
    assert found.languages is not None
    assert found.languages.tolist() == [1, 2, 0]
    assert found.partners is None
    assert found.whitened is None


def test_a_partner_is_a_caption_of_the_picture_in_another_language() -> None:
    source = CompanionSource(DATA, LANGUAGES, TOKENS, paired=True)
    seen: list[set[int]] = [set() for _ in EVERY]
    for seed in range(30):
        found = source.of(EVERY, draw(seed), CPU).partners
        assert found is not None
        for caption, token in enumerate(found[0][:, 0].tolist()):
            seen[caption].add(token - 10)
    assert seen == [{1}, {0, 2}, {1}, {4}, {3}], "and each of them is drawn"


def test_the_draw_decides() -> None:
    source = CompanionSource(DATA, LANGUAGES, TOKENS, paired=True)
    one, other = (source.of(EVERY, draw(3), CPU).partners for _ in range(2))
    assert one is not None
    assert other is not None
    assert torch.equal(one[0], other[0])


def test_a_picture_in_one_language_is_refused_by_name() -> None:
    alone = CaptionedPictures((*DATA.pictures, "c.jpg"), (*DATA.captions, Caption(2, "pt", "x")))
    with pytest.raises(DataError, match=r"c\.jpg has captions in pt alone; it needs"):
        CompanionSource(alone, LANGUAGES, [*TOKENS, TOKENS[0]], paired=True)


def test_the_fixed_space_is_that_of_the_captions_pictures() -> None:
    space = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    found = CompanionSource(DATA, LANGUAGES, TOKENS, whitened=space).of(EVERY[[3, 0]], draw(), CPU)
    assert found.whitened is not None
    assert found.whitened.tolist() == [[0, 1], [1, 0]]


def test_a_neighbour_is_another_caption_of_the_picture_in_whatever_language() -> None:
    alone = CaptionedPictures((*DATA.pictures, "c.jpg"), (*DATA.captions, Caption(2, "pt", "x")))
    source = CompanionSource(alone, LANGUAGES, [*TOKENS, np.array([15], np.int32)], beside=True)
    seen: list[set[int]] = [set() for _ in range(6)]
    for seed in range(40):
        found = source.of(np.arange(6), draw(seed), CPU).neighbours
        assert found is not None
        for caption, token in enumerate(found[0][:, 0].tolist()):
            seen[caption].add(token - 10)
    assert seen == [{1, 2}, {0, 2}, {0, 1}, {4}, {3}, {5}], "itself where there is no other"
