"""Natural language inference with a frozen encoder (Krasner et al. 2025, 3.4; Conneau et al. 2017)."""

import csv
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from evaluation.reports.document import Block, Heading
from index.errors import DataError
from index.progress import Progress
from training.papers.frozen import Frozen
from training.papers.report import ExperimentReport, grid

LABELS = ("entailment", "neutral", "contradiction")
LABEL_SPELLINGS = {"contradictory": "contradiction"}  # of XNLI's machine translations
# What MultiNLI, XNLI, its machine translations and AmericasNLI call their columns.
COLUMNS = {
    "label": ("gold_label", "label"),
    "premise": ("sentence1", "premise"),
    "hypothesis": ("sentence2", "hypothesis", "hypo"),
}
BATCH_SIZE = 256
DEV_SHARE = 0.1  # of the training pairs, held out for early stopping where no file is given


@dataclass(frozen=True)
class ProbeSettings:
    """As in the paper: two hidden layers of `width`, Adam, stopping after `patience` epochs without gain."""

    epochs: int = 100
    width: int = 2048
    learning_rate: float = 2e-5
    patience: int = 5
    seed: int = 0


@dataclass(frozen=True)
class Pairs:
    """Premises and hypotheses with their labels, as indices of LABELS."""

    premises: list[str]
    hypotheses: list[str]
    labels: NDArray[np.int64]


def read_pairs(file: Path, language: str = "") -> dict[str, Pairs]:
    """Read language -> pairs from a TSV file with a header, languages in the order of first appearance.

    Its columns are named as in XNLI, MultiNLI or AmericasNLI. A file without a column `language` is in
    `language`. Pairs without a gold label ("-") are left out: their annotators did not agree.
    Raises DataError for a file of another format or without pairs.
    """
    rows: dict[str, list[tuple[str, str, int]]] = {}
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            table = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            names = _columns(file, table.fieldnames or ())
            for number, row in enumerate(table, 2):
                if (pair := _pair(file, number, row, names)) is not None:
                    rows.setdefault(row.get("language") or language or "?", []).append(pair)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} can't be read as UTF-8 text: {error}") from None
    if not rows:
        raise DataError(f"{file} has no pair with a gold label")
    return {
        code: Pairs([p for p, _, _ in pairs], [h for _, h, _ in pairs], np.asarray([n for _, _, n in pairs]))
        for code, pairs in rows.items()
    }


def _columns(file: Path, names: Sequence[str]) -> dict[str, str]:
    columns = {}
    for what, possible in COLUMNS.items():
        name = next((name for name in possible if name in names), None)
        if name is None:
            raise DataError(
                f"{file} has no column {' or '.join(possible)}: give a TSV file with XNLI's header"
            )
        columns[what] = name
    return columns


def _pair(
    file: Path, number: int, row: Mapping[str, str | None], names: Mapping[str, str]
) -> tuple[str, str, int] | None:
    label, premise, hypothesis = (row.get(names[what]) or "" for what in ("label", "premise", "hypothesis"))
    if label == "-":
        return None
    label = LABEL_SPELLINGS.get(label, label)
    if label not in LABELS or not premise or not hypothesis:
        raise DataError(f"{file} line {number}: a label of {', '.join(LABELS)} or -, and two sentences")
    return premise, hypothesis, LABELS.index(label)


def by_language(files: Sequence[Mapping[str, Pairs]]) -> dict[str, Pairs]:
    """Join the pairs of several files, language by language."""
    codes = dict.fromkeys(code for file in files for code in file)
    return {code: joined([file[code] for file in files if code in file]) for code in codes}


def joined(parts: Collection[Pairs]) -> Pairs:
    """All pairs of `parts` as one."""
    premises = [sentence for part in parts for sentence in part.premises]
    hypotheses = [sentence for part in parts for sentence in part.hypotheses]
    return Pairs(premises, hypotheses, np.concatenate([part.labels for part in parts]))


def features(premises: Tensor, hypotheses: Tensor) -> Tensor:
    """Concatenate u ⊕ v ⊕ |u - v| ⊕ u * v: (n, d) twice -> (n, 4 d)."""
    return torch.cat([premises, hypotheses, (premises - hypotheses).abs(), premises * hypotheses], dim=1)


@dataclass(frozen=True)
class Encoded:
    """The vectors of pairs, (n, d) each, and their labels."""

    premises: Tensor
    hypotheses: Tensor
    labels: Tensor

    def part(self, rows: NDArray[np.int64]) -> "Encoded":
        chosen = torch.from_numpy(rows)
        return Encoded(self.premises[chosen], self.hypotheses[chosen], self.labels[chosen])


def encode_pairs(encoder: Frozen, pairs: Pairs) -> Encoded:
    """Encode premises and hypotheses, each distinct sentence once."""
    distinct = list(dict.fromkeys([*pairs.premises, *pairs.hypotheses]))
    place = {sentence: row for row, sentence in enumerate(distinct)}
    vectors = torch.from_numpy(np.asarray(encoder.encode(distinct), np.float32))
    premises, hypotheses = (vectors[[place[s] for s in side]] for side in (pairs.premises, pairs.hypotheses))
    return Encoded(premises, hypotheses, torch.from_numpy(pairs.labels))


class Probe(nn.Module):
    """Two hidden layers over the features of a pair: (n, d) twice -> label logits (n, 3)."""

    def __init__(self, dimension: int, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(4 * dimension, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, len(LABELS)),
        )

    def forward(self, pairs: Encoded) -> Tensor:
        out: Tensor = self.layers(features(pairs.premises, pairs.hypotheses))
        return out


@torch.inference_mode()
def accuracy(probe: Probe, pairs: Encoded) -> float:
    """The per cent of pairs whose label gets the highest logit."""
    rows = np.array_split(np.arange(len(pairs.labels)), -(-len(pairs.labels) // 4096))
    right = [int((probe(part := pairs.part(chunk)).argmax(dim=1) == part.labels).sum()) for chunk in rows]
    return 100 * sum(right) / len(pairs.labels)


def learn_probe(train: Encoded, dev: Encoded, settings: ProbeSettings) -> tuple[Probe, int]:
    """Train a probe; return the one best on `dev` and its epoch. Training stops `patience` epochs later."""
    torch.manual_seed(settings.seed)
    probe = Probe(train.premises.shape[1], settings.width)
    optimiser = torch.optim.Adam(probe.parameters(), lr=settings.learning_rate)
    best, best_epoch, best_weights = -1.0, 0, {}
    with Progress(settings.epochs, unit="epochs", label="nli") as bar:
        for epoch in range(1, settings.epochs + 1):
            _epoch(probe, optimiser, train, np.random.default_rng([settings.seed, epoch]))
            bar.advance()
            if (score := accuracy(probe, dev)) > best:
                best, best_epoch = score, epoch
                best_weights = {name: weights.clone() for name, weights in probe.state_dict().items()}
            elif epoch - best_epoch >= settings.patience:
                break
    probe.load_state_dict(best_weights)
    return probe, best_epoch


def _epoch(probe: Probe, optimiser: torch.optim.Optimizer, train: Encoded, draw: np.random.Generator) -> None:
    order = draw.permutation(len(train.labels))
    for rows in np.array_split(order, -(-len(order) // BATCH_SIZE)):
        part = train.part(rows)
        optimiser.zero_grad(set_to_none=True)
        F.cross_entropy(probe(part), part.labels).backward()  # type: ignore[no-untyped-call]
        optimiser.step()


@dataclass(frozen=True)
class Inferred:
    """Accuracy by language, in per cent, number of pairs, and accuracy of the most frequent label."""

    encoder: str
    accuracy: dict[str, float]
    pairs: dict[str, int]
    commonest: dict[str, float]
    epochs: int


def infer(
    encoder: Frozen, train: Pairs, dev: Pairs | None, tests: Mapping[str, Pairs], settings: ProbeSettings
) -> Inferred:
    """Train the probe on `train` and test it in each language of `tests`."""
    learned = encode_pairs(encoder, train)
    if dev is None:
        order = np.random.default_rng(settings.seed).permutation(len(train.labels))
        cut = max(1, round(DEV_SHARE * len(order)))
        learned, held_out = learned.part(order[cut:]), learned.part(order[:cut])
    else:
        held_out = encode_pairs(encoder, dev)
    probe, epochs = learn_probe(learned, held_out, settings)
    accuracies = {code: accuracy(probe, encode_pairs(encoder, pairs)) for code, pairs in tests.items()}
    counts = {code: len(pairs.labels) for code, pairs in tests.items()}
    commonest = {
        code: 100 * Counter(pairs.labels.tolist()).most_common(1)[0][1] / counts[code]
        for code, pairs in tests.items()
    }
    return Inferred(encoder.name, accuracies, counts, commonest, epochs)


def report(inferred: Inferred) -> ExperimentReport:
    """Describe what the probe made of each language."""
    note = (
        f"A probe over frozen vectors of {inferred.encoder}, features u ⊕ v ⊕ |u - v| ⊕ u * v, best on its "
        f"validation pairs after {inferred.epochs} epochs. Accuracy in per cent; commonest: of always "
        "saying the most frequent label."
    )
    rows = {
        code: {"pairs": inferred.pairs[code], "accuracy": value, "commonest": inferred.commonest[code]}
        for code, value in inferred.accuracy.items()
    }
    figures = {"accuracy": float(np.mean(list(inferred.accuracy.values())))} | inferred.accuracy
    parts: list[Block] = [Heading(2, "By language"), grid("language", rows)]
    title, found = "Natural language inference", {inferred.encoder: figures}
    return ExperimentReport(title, note, found, asdict(inferred), parts)
