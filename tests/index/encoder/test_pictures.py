from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from index.arrays import unit
from index.encoder.bundle import PICTURES, Bundle, open_bundle
from index.encoder.pictures import (
    LEAST_COSINE,
    VARIANT_CODES,
    Pictograms,
    emoji,
    family,
    packed,
    read_pictures,
)
from index.encoder.text_encoder import TextEncoder
from index.errors import DamagedError
from tests.bundles import make_bundle, republished

DRAWING, PAGE = "pictograms/1f415", "storybooks/0001-01.jpg"


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    vectors = np.eye(2, 8, dtype=np.float32)
    file = tmp_path / "pictures.safetensors"
    file.write_bytes(packed([DRAWING, PAGE], vectors))
    pictures = read_pictures(file, 8)
    assert pictures.names == (DRAWING, PAGE)
    assert np.array_equal(pictures.vectors, vectors)
    page = pictures.of_set("storybooks")
    assert (page.names, page.vectors.tolist()) == (("0001-01.jpg",), vectors[1:].tolist())
    assert pictures.of_set("story").names == ()


def test_eight_bits_keep_directions(tmp_path: Path) -> None:
    vectors = unit(np.random.default_rng(0).normal(size=(50, 256)).astype(np.float32))
    file = tmp_path / "pictures.safetensors"
    file.write_bytes(packed([str(row) for row in range(50)], vectors))
    assert (read_pictures(file, 256).vectors * vectors).sum(axis=1).min() > 0.9999


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no tensors",
        packed([DRAWING], np.eye(2, 8, dtype=np.float32)),
        packed([DRAWING, PAGE], np.eye(2, 7, dtype=np.float32)),
        save({"vectors": np.full((1, 8), np.nan, np.float16), "names": np.frombuffer(b"1f415", np.uint8)}),
    ],
    ids=["empty", "noise", "too few names", "another dimension", "no number"],
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "pictures.safetensors"
    file.write_bytes(content)
    with pytest.raises(DamagedError, match="export it again"):
        read_pictures(file, 8)


WOMAN_FARMER, MAN_FARMER, DOG, CAT = "1f469-200d-1f33e", "1f468-200d-1f33e", "1f415", "1f408"


def drawn(**vectors: list[float]) -> Pictograms:
    rows = np.array(list(vectors.values()), np.float32)
    return Pictograms(tuple(vectors), rows / np.linalg.norm(rows, axis=1, keepdims=True))


def test_the_nearest_are_given_best_first_and_the_distant_are_not() -> None:
    pictograms = drawn(**{CAT: [0.8, 0.6], DOG: [1, 0], "2603": [0, -1]})
    (answer,) = pictograms.nearest(np.array([[1, 0]], np.float32), 3)
    assert [(shown, round(cosine, 4)) for shown, cosine in answer] == [("🐕\ufe0f", 1.0), ("🐈\ufe0f", 0.8)]
    assert [len(row) for row in pictograms.nearest(np.array([[1, 0], [0, 1]], np.float32), 1)] == [1, 1]
    assert pictograms.nearest(np.array([[-1, 0]], np.float32)) == [[]]


def test_of_variants_of_a_concept_the_best_alone_is_given() -> None:
    pictograms = drawn(**{MAN_FARMER: [1, 0.1], WOMAN_FARMER: [1, 0], DOG: [1, 0.5]})
    (answer,) = pictograms.nearest(np.array([[1, 0]], np.float32))
    assert [shown for shown, _ in answer] == ["👩\u200d🌾", "🐕\ufe0f"]
    squares = drawn(**{"25fe": [1, 0], "2b1b": [1, 0.1], "25aa": [1, 0.2], "2b1c": [1, 0.3], DOG: [1, 0.5]})
    (answer,) = squares.nearest(np.array([[1, 0]], np.float32))
    assert [shown for shown, _ in answer] == ["◾\ufe0f", "⬜\ufe0f", "🐕\ufe0f"]


@given(st.lists(st.sampled_from([*sorted(VARIANT_CODES), "1f33e", "1f415"]), min_size=1, max_size=6))
def test_a_variant_is_of_the_family_of_its_concept(points: list[str]) -> None:
    code = "-".join(points)
    assert family(family(code)) == family(code)
    if set(points) - VARIANT_CODES:
        assert family(f"{code}-200d-2642") == family(code)
    assert len(emoji(code)) in (len(points), 2)


@pytest.mark.parametrize("name", ["dog", "ffffffffffff"])
def test_what_is_no_code_point_is_refused(bundle: Bundle, tmp_path: Path, name: str) -> None:
    content = packed([f"pictograms/{name}"], np.eye(1, 48, dtype=np.float32))
    with pytest.raises(DamagedError, match="export it again"):
        Pictograms.open(republished(bundle, tmp_path, PICTURES, content))


def test_a_bundle_has_them_or_not(bundle: Bundle, tmp_path: Path) -> None:
    pictograms = Pictograms.open(open_bundle(bundle.folder))
    assert pictograms is not None
    for text, shown in (("A dog.", "🐕\ufe0f"), ("Die Katze.", "🐈\ufe0f")):
        (answer,) = pictograms.nearest(TextEncoder(bundle).encode([text]), 1)
        assert answer[0][0] == shown
        assert answer[0][1] >= LEAST_COSINE
    assert Pictograms.open(open_bundle(make_bundle(tmp_path / "without", pictograms=False).folder)) is None
