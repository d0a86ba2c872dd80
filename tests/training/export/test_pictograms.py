"""`passepartout bundle pictograms`: the drawings that an encoder learned from, in its bundle."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from evaluation.suites.pictograms import part_of, read_names
from index.encoder.bundle import Bundle, open_bundle
from index.encoder.pictures import Pictograms, emoji
from index.encoder.text_encoder import TextEncoder
from index.errors import UsageError
from passepartout import run
from tests.training.tiny import BAG, WITH_DRAWINGS, recipe
from training.data.synthetic import concepts
from training.export.pictograms import SECTION_TITLE, write_pictograms


def test_a_name_finds_the_drawing_that_it_was_learned_with(drawn: Bundle, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(drawn.folder, folder)
    assert Pictograms.open(drawn) is None
    written = write_pictograms(folder, data, recipe(BAG, tmp_path, *WITH_DRAWINGS))
    bundle = open_bundle(folder)
    pictograms = Pictograms.open(bundle)
    assert pictograms is not None
    assert written == (len(pictograms.codes), 0) == (len(concepts()), 0)
    assert np.linalg.norm(pictograms.vectors, axis=1) == pytest.approx(1, abs=1e-3)
    names = read_names(data / "pictograms" / "names" / "en.tsv")
    learned = [code for code in names if part_of(code) == "train"]
    nearest = pictograms.nearest(TextEncoder(bundle).encode([names[code].name for code in learned]), 5)
    shown = [emoji(code) in {one.emoji for one in row} for code, row in zip(learned, nearest, strict=True)]
    assert np.mean(shown) > 0.8, "by chance a tenth"
    page = bundle.card.read_text("utf-8")
    assert f"the vectors of {len(concepts())} pictograms" in page
    write_pictograms(folder, data, recipe(BAG, tmp_path, *WITH_DRAWINGS))
    assert open_bundle(folder).card.read_text("utf-8").count(SECTION_TITLE) == 1, (
        "in place of the section before"
    )


def test_another_recipe_is_refused(drawn: Bundle, data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"pictograms in data\.sets"):
        write_pictograms(drawn.folder, data, recipe(BAG, tmp_path))
    assert run(["bundle", "pictograms", str(drawn.folder), "--data", str(data), "--recipe", "open"]) == 2
