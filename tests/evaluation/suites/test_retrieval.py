from pathlib import Path

import numpy as np
import pytest

from evaluation.measures.recall import image_sentence_recall, image_sentence_recalls
from evaluation.suites.retrieval import PictureVectors, read_pictures, score_retrieval
from index.errors import DamagedError, UsageError
from passepartout import run

AXES = np.eye(4, dtype=np.float32)
PICTURES = PictureVectors(("a", "b", "c", "d"), AXES, "test", "0" * 64, "1" * 64)


def test_each_direction_is_counted_by_itself() -> None:
    # Sentences 0 and 1 are about picture 0, sentence 2 about picture 1 but nearest to picture 0.
    sentences = np.array([[1, 0], [0, 1], [0.8, 0.6]], np.float32)
    to_sentence, to_image = image_sentence_recalls(AXES[:2, :2], sentences, np.array([0, 0, 1]), (1, 2))
    assert to_sentence == {1: 50, 2: 100}, "picture 1 has sentence 1 before its own"
    assert to_image == {1: pytest.approx(100 / 3), 2: 100}
    assert image_sentence_recall(AXES[:2, :2], sentences, np.array([0, 0, 1]), (1, 2)) == pytest.approx(
        50 + 100 + 100 / 3 + 100
    )


def test_a_language_is_measured_on_the_pictures_it_has_captions_for() -> None:
    """German has two of the four pictures, mixed up; the other two are no candidates."""
    table = score_retrieval(
        PICTURES,
        {"en": AXES, "de": AXES[[1, 0]], "pt": AXES},
        {"en": range(4), "de": [0, 1], "pt": range(4)},
        ["en", "de"],
    )
    assert table.means["en"] == {key: 600 if key == "rsum" else 100 for key in table.means["en"]}
    assert (table.means["de"]["i2t_r1"], table.means["de"]["t2i_r1"]) == (0, 0)
    assert (table.means["de"]["i2t_r5"], table.means["de"]["rsum"]) == (100, 400)
    assert table.means["de"]["mr"] == pytest.approx(400 / 6)
    assert table.means["all"]["rsum"] == pytest.approx((600 + 400 + 600) / 3)
    assert table.means["en,de"]["rsum"] == pytest.approx(500)
    assert list(table.means) == ["all", "en,de", "en", "de", "pt"]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    PICTURES.write(tmp_path / "p.safetensors")
    found = read_pictures(tmp_path / "p.safetensors")
    assert (found.names, found.split, found.recipe, found.data) == (
        PICTURES.names,
        "test",
        PICTURES.recipe,
        PICTURES.data,
    )
    assert np.array_equal(found.vectors, AXES)
    assert [path.name for path in tmp_path.iterdir()] == ["p.safetensors"]


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is missing: passepartout bundle pictures RUN"):
        read_pictures(tmp_path / "absent")
    (tmp_path / "bad").write_bytes(b"\0" * 20)
    with pytest.raises(DamagedError, match="holds no picture vectors"):
        read_pictures(tmp_path / "bad")
    PictureVectors(("a",), AXES, "test", "", "").write(tmp_path / "short")
    with pytest.raises(DamagedError, match="1 names for vectors"):
        read_pictures(tmp_path / "short")


@pytest.mark.parametrize("words", [["retrieval"], ["multi30k", "--pictures", "x"]])
def test_the_suite_and_the_pictures_need_each_other(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--encoder", str(tmp_path), "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    assert run(["evaluate", *words, *more]) == 2
    assert "--pictures" in capsys.readouterr().err
