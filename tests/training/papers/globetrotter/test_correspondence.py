"""`passepartout paper experiment correspondence` on halves that say the same, each in its words."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evaluation.suites.sets import Caption, read_captions
from passepartout import run as passepartout
from tests.training.test_cli import Capture, fails
from training.loop.run import Run
from training.papers.globetrotter.correspondence import swapped

CODES = ("en", "de", "pt")


def doubled(rows: list[Caption]) -> Iterator[str]:
    """Two captions of a picture as one sentence: its halves belong together by what they say."""
    of_picture: dict[str, list[str]] = {}
    for row in rows:
        of_picture.setdefault(row.image, []).append(row.text)
    for image, (one, *others) in of_picture.items():
        for other in (*others, one):
            yield f"{image}\t{one} {other}\thuman\n"


@pytest.fixture(scope="module")
def doubling(drawn: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The drawn data, nearly all of it split test, with doubled captions."""
    folder = tmp_path_factory.mktemp("doubling") / "data"
    shutil.copytree(drawn, folder)
    splits = folder / "photos" / "splits.tsv"
    splits.write_text(splits.read_text("utf-8").replace("\ttrain", "\ttest"), "utf-8")
    for code in CODES:
        file = folder / "photos" / "captions" / f"{code}.tsv"
        file.write_text("".join(doubled(read_captions(file))), "utf-8")
    return folder


def words(base: Run, data: Path, out: Path, *more: str) -> list[str]:
    folder = str(base.folder)
    return [
        "experiment",
        "correspondence",
        "--encoder-run",
        folder,
        "--data",
        str(data),
        "--out",
        str(out),
        *more,
    ]


def test_matching_halves_are_distinguished_from_others(
    three: Run, doubling: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert passepartout(words(three, doubling, tmp_path, "--epochs", "6")) == 0
    assert "drawn-bag: seen " in capsys.readouterr().out
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    (system,), figures = report["systems"], report["figures"]["drawn-bag"]
    assert system["seen_languages"] == ["de", "en"], "the first half in alphabetical order"
    assert set(system["accuracy"]) == set(CODES)
    seen, unseen = figures["seen languages"], figures["unseen languages"]
    assert seen > 60
    assert figures["relative decrease"] == pytest.approx(100 * (seen - unseen) / (seen - 50))
    assert f"| drawn-bag | {seen:.1f} |" in (tmp_path / "report.md").read_text("utf-8")


def test_neither_length_nor_the_second_half_gives_the_label_away() -> None:
    draw = np.random.default_rng(0)
    lines = [" ".join(f"w{n}{i}" for i in range(4 + n % 5)) for n in range(400)]
    found = swapped([Caption(f"{n // 2}.jpg", line, "human") for n, line in enumerate(lines)], "en", draw)
    together = [one for one in found if one.belong]
    apart = [one for one in found if not one.belong]
    assert len(together) == len(apart) > 100
    assert {one.first + one.second for one in together} <= {tuple(line.split()) for line in lines}
    assert not {one.first + one.second for one in apart} & {tuple(line.split()) for line in lines}
    assert all(0 <= len(one.second) - len(one.first) <= 1 for one in found)
    owners = {tuple(line.split())[-1]: f"{n // 2}.jpg" for n, line in enumerate(lines)}
    assert all(owners[one.second[-1]] != one.image for one in apart), "another picture's"


def test_wrong_use_is_one_line(three: Run, drawn: Path, tmp_path: Path, capsys: Capture) -> None:
    assert "contains no training run" in fails(
        capsys, 2, *words(Run(drawn, three.recipe), drawn, tmp_path / "r")
    )
    assert "has no photos/" in fails(capsys, 2, *words(three, tmp_path, tmp_path / "r"))
    assert not (tmp_path / "r").exists()
