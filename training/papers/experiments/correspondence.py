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
from training.papers.experiments.sentence_halves import SplitSentence, read_split_captions, tokenize_halves
from training.papers.experiments.sentences import Model, open_model

CHANCE = 50.0
BATCH_SIZE = 32


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
    return [
        _score(
            open_model(folder, data),
            open_model(adapted, data) if adapted and number == 0 else None,
            data,
            settings,
        )
        for number, folder in enumerate(runs)
    ]


def _score(model: Model, adapted: Model | None, data: Path, settings: Settings) -> Scored:
    parts = read_split_captions(data, model.languages, settings.seed)
    codes = sorted(parts.train)
    seen = tuple(codes[: (len(codes) + 1) // 2])
    examples = sum((_examples(model, parts.train[code], code) for code in seen), Examples([], [], []))
    head = train_head(model, examples, settings)
    accuracy = {code: _accuracy(model, head, parts.test[code], code) for code in codes}
    later = {}
    if adapted:
        new = [code for code in adapted.languages if code not in model.languages]
        test = read_split_captions(data, (*model.languages, *new), settings.seed).test
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
        for rows in np.array_split(draw.permutation(len(examples.ids)), -(-len(examples.ids) // BATCH_SIZE))
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
def _accuracy(model: Model, head: Head, samples: Sequence[SplitSentence], code: str) -> float:
    examples = _examples(model, samples, code)
    right = 0
    for start in range(0, len(samples), BATCH_SIZE):
        rows = range(start, min(start + BATCH_SIZE, len(samples)))
        answers = (_logits(model, head, examples, rows) > 0).tolist()
        right += sum(answer == examples.belong[i] for answer, i in zip(answers, rows, strict=True))
    return 100 * right / len(samples)


def _examples(model: Model, samples: Sequence[SplitSentence], code: str) -> Examples:
    rows = tokenize_halves(model.tokenizer, samples, code, model.model.text.max_tokens)
    ids = [np.asarray(row, np.int32) for row, _ in rows]
    return Examples(ids, [first for _, first in rows], [sample.belong for sample in samples])


def facts(scored: Sequence[Scored]) -> dict[str, Any]:
    """For report.json."""
    return {
        "chance": CHANCE,
        "systems": [
            {
                "name": system.name,
                "seen": system.means[0],
                "unseen": system.means[1],
                "relative_decrease": system.decrease,
                "seen_languages": system.seen,
                "accuracy": system.accuracy,
                "sentences": system.tested,
                "added": system.adapted,
            }
            for system in scored
        ],
    }


def blocks(scored: Sequence[Scored]) -> list[Block]:
    """For report.md."""
    means = [[s.name, *(f"{value:.1f}" for value in s.means), _decrease(s)] for s in scored]
    parts: list[Block] = [
        text(
            "Captions of split test cut in two, half of them with another's second half. A transformer layer",
            "with one head over the frozen token states learns from the first half of the languages, and is",
            "tested on captions of other pictures. Chance is 50.",
        ),
        Grid(["", "seen accuracy (%)", "unseen accuracy (%)", "relative decrease (%)"], means),
    ]
    for system in scored:
        rows = [
            [code, "seen" if code in system.seen else "unseen", str(system.tested[code]), f"{value:.1f}"]
            for code, value in system.accuracy.items()
        ]
        rows += [[code, "added later", "", f"{value:.1f}"] for code, value in system.adapted.items()]
        parts += [Heading(2, system.name), Grid(["language", "", "sentences", "accuracy (%)"], rows)]
    return parts


def line(system: Scored) -> str:
    """The means of a system."""
    seen, unseen = system.means
    added = "".join(f", {code} added later {value:.1f}" for code, value in system.adapted.items())
    return f"{system.name}: seen {seen:.1f}, unseen {unseen:.1f}, decrease {_decrease(system)}%{added}"


def _decrease(system: Scored) -> str:
    return "–" if system.decrease is None else f"{system.decrease:.1f}"
