from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from index.arrays import unit
from index.encoder.pictures import packed, read_pictures
from index.errors import DamagedError

DOG, PAGE = "pictograms/1f415", "storybooks/0001-01.jpg"


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    vectors = np.eye(2, 8, dtype=np.float32)
    file = tmp_path / "pictures.safetensors"
    file.write_bytes(packed([DOG, PAGE], vectors))
    pictures = read_pictures(file, 8)
    assert pictures.names == (DOG, PAGE)
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
        packed([DOG], np.eye(2, 8, dtype=np.float32)),
        packed([DOG, PAGE], np.eye(2, 7, dtype=np.float32)),
        save({"vectors": np.full((1, 8), np.nan, np.float16), "names": np.frombuffer(b"1f415", np.uint8)}),
    ],
    ids=["empty", "noise", "too few names", "another dimension", "no number"],
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "pictures.safetensors"
    file.write_bytes(content)
    with pytest.raises(DamagedError, match="export it again"):
        read_pictures(file, 8)
