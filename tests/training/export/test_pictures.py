"""The drawings that an encoder learned from, in its bundle."""

from pathlib import Path

import numpy as np
import pytest

from evaluation.suites.pictograms import part_of, read_names
from index.encoder.bundle import Bundle
from index.encoder.pictures import Pictograms, emoji
from index.encoder.text_encoder import TextEncoder
from training.smoke.drawings import concepts


def test_a_name_finds_the_drawing_that_it_was_learned_with(
    drawn: Bundle, bag_bundle: Bundle, data: Path
) -> None:
    assert Pictograms.open(bag_bundle) is None, "it learned from none"
    pictograms = Pictograms.open(drawn)
    assert pictograms is not None
    assert len(pictograms.codes) == len(concepts())
    assert np.linalg.norm(pictograms.vectors, axis=1) == pytest.approx(1, abs=1e-3)
    names = read_names(data / "pictograms" / "names" / "en.tsv")
    learned = [code for code in names if part_of(code) == "train"]
    nearest = pictograms.nearest(TextEncoder(drawn).encode([names[code].name for code in learned]), 5)
    shown = [
        emoji(code) in {drawn_as for drawn_as, _ in row} for code, row in zip(learned, nearest, strict=True)
    ]
    assert np.mean(shown) > 0.8, "by chance a tenth"
    assert f"the vectors of {len(concepts())} pictograms" in drawn.card.read_text("utf-8")
