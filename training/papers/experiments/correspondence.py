"""Sentence correspondence: do two halves belong together, in any language (globetrotter, A.1)?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from evaluation.reports.document import Block, Grid, Heading, text
from index.progress import Progress
from training.data.tokens import pad
from training.papers.experiments.halves import Halves, read_halves, tokens
from training.papers.experiments.sentences import Model, open_model

CHANCE = 50.0
BATCH = 32


@dataclass(frozen=True)
class Settings:
    epochs: int = 1
    learning_rate: float = 1e-3
    seed: int = 0


@dataclass(frozen=True)
class Examples:
    """Token ids, how many of each are of the first half, and whether the halves belong together."""

    ids: list[np.ndarray[tuple[int], np.dtype[np.int32]]]
    first: list[int]
    belong: list[bool]

    def __add__(self, other: "Examples") -> "Examples":
        return Examples(self.ids + other.ids, self.first + other.first, self.belong + other.belong)


@dataclass(frozen=True)
class Scored:
    """Of one system: accuracy and number of test sentences by language, per cent; which the head had seen."""

    name: str
    seen: tuple[str, ...]
    accuracy: Mapping[str, float]
    tested: Mapping[str, int]
    adapted: Mapping[str, float]

    @property
    def means(self) -> tuple[float, float]:
        """Accuracy over seen and over unseen languages."""
        seen = [value for code, value in self.accuracy.items() if code in self.seen]
        unseen = [value for code, value in self.accuracy.items() if code not in self.seen]
        return float(np.mean(seen)), float(np.mean(unseen))

    @property
    def decrease(self) -> float | None:
        """Of the accuracy above chance, the per cent lost on unseen languages; None at or below chance."""
        seen, unseen = self.means
        return 100 * (seen - unseen) / (seen - CHANCE) if seen > CHANCE else None


class Head(nn.Module):
    """One transformer layer with one head over frozen token states, a mark telling the halves apart.

    States (N, T, width), mask (N, T) and half (N, T) in {0, 1} -> logits (N,) of belonging together, from the
    mean of what the layer makes of the tokens. Marks are for encoders whose states know no place.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mark = nn.Embedding(2, width)
        self.layer = nn.TransformerEncoderLayer(width, 1, 2 * width, 0.1, "gelu", batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, states: Tensor, mask: Tensor, half: Tensor) -> Tensor:
        seen = self.layer(self.norm(states) + self.mark(half), src_key_padding_mask=mask == 0)
        weights = mask.to(seen.dtype)[..., None]
        out: Tensor = self.out((seen * weights).sum(dim=1) / weights.sum(dim=1))[:, 0]
        return out


def correspond(runs: Sequence[Path], adapted: Path | None, data: Path, settings: Settings) -> list[Scored]:
    """Train a head on each run's representation and test it; tables 5 and, with `adapted`, 7.

    Seen are the first half of a run's languages with captions of split test, in alphabetical order.
    `adapted` is a run with languages added to the first of `runs`: the same head is tested on these.
    """
    found = []
    for number, folder in enumerate(runs):
        more = open_model(adapted, data) if adapted and number == 0 else None
        found.append(_score(open_model(folder, data), more, data, settings))
    return found


def _score(model: Model, adapted: Model | None, data: Path, settings: Settings) -> Scored:
    parts = read_halves(data, model.languages, settings.seed)
    codes = sorted(parts.train)
    seen = tuple(codes[: (len(codes) + 1) // 2])
    examples = sum((_examples(model, parts.train[code], code) for code in seen), Examples([], [], []))
    head = train_head(model, examples, settings)
    accuracy = {code: _accuracy(model, head, parts.test[code], code) for code in codes}
    later = {}
    if adapted:
        new = [code for code in adapted.languages if code not in model.languages]
        test = read_halves(data, (*model.languages, *new), settings.seed).test
        later = {code: _accuracy(adapted, head, test[code], code) for code in new if code in test}
    return Scored(model.name, seen, accuracy, {c: len(parts.test[c]) for c in codes}, later)


def train_head(model: Model, examples: Examples, settings: Settings) -> Head:
    """A head that has seen each example `epochs` times; the model is left as it is."""
    torch.manual_seed(settings.seed)
    head, draw = Head(model.model.text.width), np.random.default_rng(settings.seed)
    optimiser = torch.optim.Adam(head.parameters(), lr=settings.learning_rate)
    batches = [
        rows
        for _ in range(settings.epochs)
        for rows in np.array_split(draw.permutation(len(examples.ids)), -(-len(examples.ids) // BATCH))
    ]
    with Progress(len(batches), unit="steps", label=f"correspondence {model.name}") as bar:
        for rows in batches:
            truth = torch.tensor([float(examples.belong[i]) for i in rows])
            loss = F.binary_cross_entropy_with_logits(_logits(model, head, examples, rows.tolist()), truth)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            bar.advance()
    return head.eval()


def _logits(model: Model, head: Head, examples: Examples, rows: Sequence[int]) -> Tensor:
    ids, mask = pad([examples.ids[i] for i in rows], torch.device("cpu"))
    with torch.no_grad():
        states = model.model.text.states(ids, mask)
    first = torch.tensor([examples.first[i] for i in rows])
    out: Tensor = head(states, mask, (torch.arange(ids.shape[1]) >= first[:, None]).long())
    return out


@torch.no_grad()
def _accuracy(model: Model, head: Head, samples: Sequence[Halves], code: str) -> float:
    examples = _examples(model, samples, code)
    right = 0
    for start in range(0, len(samples), BATCH):
        rows = range(start, min(start + BATCH, len(samples)))
        told = (_logits(model, head, examples, rows) > 0).tolist()
        right += sum(one == examples.belong[i] for one, i in zip(told, rows, strict=True))
    return 100 * right / len(samples)


def _examples(model: Model, samples: Sequence[Halves], code: str) -> Examples:
    found = tokens(model.tokenizer, samples, code, model.model.text.settings.max_tokens)
    ids = [np.asarray(row, np.int32) for row, _ in found]
    return Examples(ids, [first for _, first in found], [sample.belong for sample in samples])


def facts(scored: Sequence[Scored]) -> dict[str, Any]:
    """For report.json."""
    return {
        "chance": CHANCE,
        "systems": [
            {
                "name": one.name,
                "seen": one.means[0],
                "unseen": one.means[1],
                "relative_decrease": one.decrease,
                "seen_languages": one.seen,
                "accuracy": one.accuracy,
                "sentences": one.tested,
                "added": one.adapted,
            }
            for one in scored
        ],
    }


def blocks(scored: Sequence[Scored]) -> list[Block]:
    """For report.md."""
    means = [[s.name, *(f"{value:.1f}" for value in s.means), _decrease(s)] for s in scored]
    found: list[Block] = [
        text(
            "Captions of split test cut in two, half of them with another's second half. A transformer layer",
            "with one head over the frozen token states learns from the first half of the languages, and is",
            "tested on captions of other pictures. Chance is 50.",
        ),
        Grid(["", "seen accuracy (%)", "unseen accuracy (%)", "relative decrease (%)"], means),
    ]
    for one in scored:
        rows = [
            [code, "seen" if code in one.seen else "unseen", str(one.tested[code]), f"{value:.1f}"]
            for code, value in one.accuracy.items()
        ]
        rows += [[code, "added later", "", f"{value:.1f}"] for code, value in one.adapted.items()]
        found += [Heading(2, one.name), Grid(["language", "", "sentences", "accuracy (%)"], rows)]
    return found


def line(one: Scored) -> str:
    """The means of a system."""
    added = "".join(f", {code} added later {value:.1f}" for code, value in one.adapted.items())
    return (
        f"{one.name}: seen {one.means[0]:.1f}, unseen {one.means[1]:.1f}, decrease {_decrease(one)}%{added}"
    )


def _decrease(one: Scored) -> str:
    return "–" if one.decrease is None else f"{one.decrease:.1f}"
