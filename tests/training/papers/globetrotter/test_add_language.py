"""`passepartout add-language` through the front door, on drawn pictures."""

import json
from pathlib import Path

import numpy as np
import pytest

from evaluation.suites.sets import read_lines
from index.encoder.text_encoder import TextEncoder
from passepartout import run as passepartout
from tests.training.papers.conftest import DRAWN_BAG
from tests.training.test_cli import Capture, fails
from tests.training.tiny import BAG, FROZEN, TRANSFORMER, recipe
from training.export.bundle import export_run
from training.loop.run import Run, open_run
from training.loop.training_loop import train
from training.papers.frozen import open_model

CHANCE = 100 * 10 / 200  # R@10 among 200 lines


def words(base: Run, data: Path, out: Path, *more: str, language: str = "zh") -> list[str]:
    return ["add-language", str(base.folder), language, "--data", str(data), "--out", str(out), *more]


@pytest.fixture(scope="module")
def four(three: Run, drawn: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The run with Chinese, as the command leaves it. Not to be changed: copy it first."""
    out = tmp_path_factory.mktemp("four") / "run"
    assert passepartout(words(three, drawn, out, "--epochs", "4", "--captions", "16")) == 0
    return open_run(out)


def means(run: Run, name: str) -> dict[str, dict[str, dict[str, float]]]:
    report = json.loads((run.folder / "report" / "report.json").read_text("utf-8"))
    found: dict[str, dict[str, dict[str, float]]] = report["sets"][name]["means"]
    return found


def test_the_new_language_is_found_and_the_others_keep_what_they_had(four: Run) -> None:
    found = means(four, "synthetic_test")
    for direction in ("from zh", "to zh"):
        before, after = (found[direction][when]["csls_r10"] for when in ("before", "after"))
        assert before <= 3 * CHANCE
        assert after > 4 * CHANCE
    before, after = (found["the other languages"][when]["csls_r10"] for when in ("before", "after"))
    assert before > 10 * CHANCE
    assert after > before - 2


def test_the_report_says_it_for_people_too(four: Run) -> None:
    written = (four.folder / "report" / "report.md").read_text("utf-8")
    row = next(line for line in written.splitlines() if line.startswith("| from zh |"))
    value = means(four, "validation captions")["from zh"]["after"]["csls_r10"]
    assert f"| {value:.1f} |" in row
    assert "passepartout add-language" in written


def test_it_is_a_finished_run_that_exports(three: Run, four: Run, drawn: Path, tmp_path: Path) -> None:
    bundle = export_run(four.folder, drawn, tmp_path / "bundle", name=None, version="1", licence="CC0-1.0")
    assert bundle.manifest.languages == ("de", "en", "pt", "zh")
    assert bundle.name == "drawn-bag-zh@1"
    assert bundle.words("zh") is not None
    assert bundle.picture_space is not None
    assert bundle.picture_space.read_bytes() == three.picture_space_file.read_bytes()
    lines = read_lines(drawn / "benchmark" / "synthetic_test" / "zh.txt")
    found = TextEncoder(bundle, precision="fp32").encode(lines)
    assert np.allclose(found, open_model(four.folder, drawn).encode(lines), atol=1e-4)


def test_text_of_the_old_languages_is_spelled_as_before(three: Run, four: Run, drawn: Path) -> None:
    for code in ("en", "de", "pt"):
        for line in read_lines(drawn / "benchmark" / "synthetic_test" / f"{code}.txt"):
            assert three.tokenizer().encode(line).ids == four.tokenizer().encode(line).ids
    chinese = read_lines(drawn / "benchmark" / "synthetic_test" / "zh.txt")[0]
    assert 1 in three.tokenizer().encode(chinese).ids, "an unknown script"
    assert 1 not in four.tokenizer().encode(chinese).ids


def test_its_captions_are_those_held_out(three: Run, four: Run) -> None:
    assert four.recipe.data.languages == ("en", "de", "pt", "zh")
    assert four.recipe.data.added == ("zh",)
    assert four.result()["pictures"] == 400, "all of split train"
    assert three.result()["pictures"] == 300


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (TRANSFORMER, FROZEN),
        (BAG, ()),
        (
            BAG,
            (
                *DRAWN_BAG,
                "text.embeddings=per-language",
                "data.held_out=[]",
                "data.pictures=shared",
                "optimiser.epochs=1",
            ),
        ),
    ],
)
def test_every_encoder_takes_a_language(
    text: str, more: tuple[str, ...], drawn: Path, tmp_path: Path, capsys: Capture
) -> None:
    sets = ("data.pictures=shared", *more)
    base = train(recipe(text, tmp_path, *sets), drawn, tmp_path / "base")
    assert passepartout(words(base, drawn, tmp_path / "run", "--captions", "64")) == 0
    assert "from the new one" in capsys.readouterr().out
    found = open_model(tmp_path / "run", drawn)
    assert found.languages[-1] == "zh"
    assert len(found.encode(["一个红球。", "a red ball"])) == 2


def test_a_language_that_cannot_be_added_is_one_line(
    three: Run, four: Run, drawn: Path, tmp_path: Path, capsys: Capture
) -> None:
    out = tmp_path / "run"
    assert "knows en" in fails(capsys, 2, *words(three, drawn, out, language="en"))
    assert "is not a language code" in fails(capsys, 2, *words(three, drawn, out, language="../x"))
    assert "has no photos/" in fails(capsys, 2, *words(three, tmp_path, out))
    assert "has no captions/nl.tsv in photos" in fails(capsys, 2, *words(three, drawn, out, language="nl"))
    assert "no picture of split train is left for ar" in fails(
        capsys, 2, *words(three, drawn, out, language="ar")
    )
    assert "contains no training run" in fails(capsys, 2, *words(Run(drawn, three.recipe), drawn, out))
    assert "is not empty" in fails(capsys, 2, *words(three, drawn, four.folder))
    assert not out.exists() or not list(out.iterdir()), "the corrected command may use the folder"


def test_losses_without_a_place_for_a_new_language_are_refused(
    drawn: Path, tmp_path: Path, capsys: Capture
) -> None:
    sets = (*FROZEN, "data.pictures=shared", 'objectives={"paired":{}}', "optimiser.epochs=1")
    base = train(recipe(TRANSFORMER, tmp_path, *sets), drawn, tmp_path / "base")
    said = fails(capsys, 2, *words(base, drawn, tmp_path / "run"))
    assert "learned by paired: no language can be added" in said
