"""Pictograms that a text asks for, and those to caption next, of the shipped encoder."""

from unicodedata import name as name_of

import numpy as np
import pytest

from index.encoder.pictures import Pictograms, Pictures, family
from index.encoder.text_encoder import TextEncoder
from index.teaching.examples import read_captions
from index.teaching.suggestions import (
    NEAR_COSINE,
    is_sign,
    pictures_like,
    suggestions,
    teaching_pictures,
)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("bee", "🐝"),
        ("🐝", "🐝"),
        ("🐕", "🐕"),
        ("🐕\ufe0f", "🐕"),
        ("Horse", "🐎"),
        ("ear", "👂"),
        ("Hund", "🐕"),
    ],
)
def test_a_text_finds_what_it_names_first(open_encoder: TextEncoder, text: str, first: str) -> None:
    assert _like(open_encoder, text)[0].removesuffix("\ufe0f") == first


@pytest.mark.parametrize("text", ["asdfgh", "fever"])
def test_what_is_near_to_no_pictogram_finds_none(open_encoder: TextEncoder, text: str) -> None:
    assert _like(open_encoder, text) == []


def test_names_that_find_their_picture_are_near_enough_and_most_random_letters_are_not(
    open_encoder: TextEncoder,
) -> None:
    pictograms = Pictograms.open(open_encoder.bundle)
    assert pictograms is not None
    codes = [code for name, _ in teaching_pictures(pictograms) if "-" not in (code := name.split("/")[1])]
    cosines = (
        open_encoder.encode([name_of(chr(int(code, 16)), "").lower() for code in codes])
        @ pictograms.vectors.T
    )
    nearest = [[family(pictograms.codes[at]) for at in row[:24]] for row in np.argsort(-cosines).tolist()]
    found = [family(code) in row for code, row in zip(codes, nearest, strict=True)]
    letters = np.random.default_rng(0).choice(list("abcdefghijklmnoprstuvwz"), (300, 6))
    random = open_encoder.encode(["".join(row) for row in letters.tolist()]) @ pictograms.vectors.T
    assert np.mean(cosines.max(1)[found] >= NEAR_COSINE) > 0.9
    assert np.mean(random.max(1) >= NEAR_COSINE) < 0.4


def _like(encoder: TextEncoder, text: str) -> list[str]:
    pictograms = Pictograms.open(encoder.bundle)
    assert pictograms is not None
    return [shown for _, shown in pictures_like(pictograms, text, encoder.encode([text])[0])]


def test_only_what_can_be_looked_at_is_to_be_captioned_next(open_encoder: TextEncoder) -> None:
    pictures = Pictures.open(open_encoder.bundle)
    assert pictures is not None
    examples = read_captions(["🐕\thundo", "storybooks/0001-01.jpg\tviro"], "captions", pictures)
    names = suggestions(pictures, examples)
    assert len(names) == len(set(names)) == 50
    assert all(name.startswith("pictograms/") and not is_sign(name.split("/")[1]) for name in names)
    assert "pictograms/1f415" not in names
    assert len({family(name) for name in names}) == 50
