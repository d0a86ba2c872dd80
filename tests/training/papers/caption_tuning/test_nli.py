"""The inference probe: the formats it reads, its features by hand, that it learns what vectors hold."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from index.encoder.bundle import Bundle
from index.errors import DataError
from training.papers.caption_tuning.nli import (
    LABELS,
    Pairs,
    ProbeSettings,
    by_language,
    features,
    infer,
    joined,
    read_pairs,
)
from training.papers.cli import experiment

XNLI = (
    "language\tgold_label\tsentence1\tsentence2\n"
    'de\tneutral\tEr sagte: "Mama, ich bin da.\tEr rief an.\n'
    "en\tentailment\tA dog runs.\tAn animal moves.\n"
    "de\tcontradiction\tEs regnet.\tEs ist trocken.\n"
    "de\t-\tEs regnet.\tEs stürmt.\n"
)


def written(folder: Path, content: str) -> Path:
    file = folder / "pairs.tsv"
    file.write_text(content, "utf-8")
    return file


class Directions:
    """A frozen encoder that knows opposites: a sentence is a direction and a sign, such as "3 -"."""

    name, languages = "directions", ("en", "de")

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        found = np.zeros((len(texts), 8), np.float32)
        for row, sentence in enumerate(texts):
            direction, sign = sentence.split()
            found[row, int(direction)] = 1 if sign == "+" else -1
        return found


def inferences(count: int, seed: int) -> Pairs:
    """The same is entailed, the opposite contradicted, anything else neutral."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 3, count)
    first = draw.integers(0, 8, count)
    other = np.where(labels == 1, (first + draw.integers(1, 8, count)) % 8, first)
    signs = ["-" if label == 2 else "+" for label in labels]
    premises = [f"{direction} +" for direction in first]
    return Pairs(premises, [f"{d} {sign}" for d, sign in zip(other, signs, strict=True)], labels)


def test_xnlis_format_is_read_with_its_quotes_and_without_disagreements(tmp_path: Path) -> None:
    found = read_pairs(written(tmp_path, XNLI))
    assert list(found) == ["de", "en"]
    assert found["de"].premises == ['Er sagte: "Mama, ich bin da.', "Es regnet."]
    assert [LABELS[label] for label in found["de"].labels] == ["neutral", "contradiction"]
    assert joined(found.values()).labels.tolist() == [1, 2, 0]


def test_multinlis_and_its_translations_columns_are_known(tmp_path: Path) -> None:
    translated = "premise\thypo\tlabel\nOne.\tTwo.\tcontradictory\n"
    found = read_pairs(written(tmp_path, translated), "fr")
    assert found["fr"].labels.tolist() == [2]
    twice = by_language([found, read_pairs(written(tmp_path, translated), "fr")])
    assert len(twice["fr"].labels) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no column gold_label or label"),
        ("gold_label\tsentence1\n", "no column sentence2"),
        ("label\tpremise\thypothesis\nmaybe\tA.\tB.\n", "line 2: a label of entailment"),
        ("label\tpremise\thypothesis\nneutral\tA.\n", "line 2"),
        ("label\tpremise\thypothesis\n-\tA.\tB.\n", "no pair with a gold label"),
    ],
)
def test_a_file_of_another_format_is_reported(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_pairs(written(tmp_path, content))


def test_features_by_hand() -> None:
    found = features(torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 0.5]]))
    assert found.tolist() == [[1, -2, 3, 0.5, 2, 2.5, 3, -1]]


def test_it_learns_what_the_vectors_hold_and_nothing_from_shuffled_labels() -> None:
    train, test = inferences(900, 0), inferences(300, 1)
    settings = ProbeSettings(epochs=12, width=64, learning_rate=3e-3)
    found = infer(Directions(), train, None, {"de": test}, settings)
    assert found.accuracy["de"] > 90
    assert found.pairs == {"de": 300}
    labels = np.random.default_rng(0).permutation(train.labels)
    blind = Pairs(train.premises, train.hypotheses, labels)
    assert infer(Directions(), blind, None, {"de": test}, settings).accuracy["de"] < 55


def test_it_stops_when_validation_no_longer_gains() -> None:
    train = inferences(300, 0)
    settings = ProbeSettings(epochs=60, width=32, learning_rate=1e-2, patience=2)
    assert infer(Directions(), train, train, {"en": train}, settings).epochs < 60


def test_the_command_writes_a_report(bag_bundle: Bundle, tmp_path: Path) -> None:
    file = written(tmp_path, XNLI * 1 + "".join(XNLI.splitlines(keepends=True)[1:]) * 9)
    words = ["nli", "--encoder", bag_bundle.folder, "--train", file, "--test", file, "--epochs", "1"]
    done = CliRunner().invoke(experiment, [*map(str, words), "--out", str(tmp_path / "out")])
    assert done.exception is None
    assert done.output.splitlines()[-1].startswith("tiny-bag@7: accuracy ")
    report = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "| de | 20.0 |" in report
    assert "passepartout experiment nli" in report
