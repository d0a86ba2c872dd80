"""Sentence correspondence: do two halves belong to one sentence, in any language (Globetrotter, A.1)?"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from evaluation.reports.document import Block, Grid, Heading, text
from index.progress import Progress
from training.data.tokens import pad
from training.papers.frozen import Model, open_model
from training.papers.globetrotter.sentence_halves import SplitSentence, read_split_captions, tokenize_halves

CHANCE_ACCURACY = 50.0
BATCH_SIZE = 32


@dataclass(frozen=True)
class Settings:
    epochs: int = 1
    learning_rate: float = 1e-3
    seed: int = 0


@dataclass(frozen=True)
class Examples:
    """Sentences: token ids, how many are the first half's, and whether the halves belong together."""

    ids: list[np.ndarray[tuple[int], np.dtype[np.int32]]]
    first: list[int]
    belong: list[bool]

    def __add__(self, other: "Examples") -> "Examples":
        return Examples(self.ids + other.ids, self.first + other.first, self.belong + other.belong)


@dataclass(frozen=True)
class Scored:
    """One system's test results: accuracy in per cent and number of sentences by language.

    seen_languages: those that the head was trained on.
    """

    name: str
    seen_languages: tuple[str, ...]
    accuracy: Mapping[str, float]
    sentences: Mapping[str, int]

    @property
    def means(self) -> tuple[float, float]:
        """Mean accuracy over seen and over unseen languages, per cent."""
        seen = [value for code, value in self.accuracy.items() if code in self.seen_languages]
        unseen = [value for code, value in self.accuracy.items() if code not in self.seen_languages]
        return float(np.mean(seen)), float(np.mean(unseen))

    @property
    def decrease(self) -> float | None:
        """The per cent of the accuracy above chance lost on unseen languages; None at or below chance."""
        seen, unseen = self.means
        return 100 * (seen - unseen) / (seen - CHANCE_ACCURACY) if seen > CHANCE_ACCURACY else None


class HalvesClassifier(nn.Module):
    """A classifier of one transformer layer with one attention head over frozen token states.

    States (N, T, width), mask (N, T) and half (N, T) in {0, 1} -> logits (N,) of belonging together, from the
    mean over the layer's outputs. An embedding marks the halves, since some encoders have no positions.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mark = nn.Embedding(2, width)
        self.layer = nn.TransformerEncoderLayer(width, 1, 2 * width, 0.1, "gelu", batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, states: Tensor, mask: Tensor, half: Tensor) -> Tensor:
        outputs = self.layer(self.norm(states) + self.mark(half), src_key_padding_mask=mask == 0)
        weights = mask.to(outputs.dtype)[..., None]
        out: Tensor = self.out((outputs * weights).sum(dim=1) / weights.sum(dim=1))[:, 0]
        return out


def correspond(runs: Sequence[Path], data: Path, settings: Settings) -> list[Scored]:
    """Train a head on the states of each run's encoder and test it (table 5).

    The head is trained on the alphabetically first half of a run's languages with captions of split test.
    """
    return [_score(open_model(folder, data), data, settings) for folder in runs]


def _score(model: Model, data: Path, settings: Settings) -> Scored:
    parts = read_split_captions(data, model.languages, settings.seed)
    codes = sorted(parts.train)
    seen = tuple(codes[: (len(codes) + 1) // 2])
    examples = sum((_examples(model, parts.train[code], code) for code in seen), Examples([], [], []))
    head = train_head(model, examples, settings)
    accuracy = {code: _accuracy(model, head, parts.test[code], code) for code in codes}
    return Scored(model.name, seen, accuracy, {c: len(parts.test[c]) for c in codes})


def train_head(model: Model, examples: Examples, settings: Settings) -> HalvesClassifier:
    """Train a head for `settings.epochs` passes over the examples; the model stays frozen."""
    torch.manual_seed(settings.seed)
    head, draw = HalvesClassifier(model.model.text.width), np.random.default_rng(settings.seed)
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


def _logits(model: Model, head: HalvesClassifier, examples: Examples, rows: Sequence[int]) -> Tensor:
    ids, mask = pad([examples.ids[i] for i in rows], torch.device("cpu"))
    with torch.no_grad():
        states = model.model.text.states(ids, mask)
    first = torch.tensor([examples.first[i] for i in rows])
    out: Tensor = head(states, mask, (torch.arange(ids.shape[1]) >= first[:, None]).long())
    return out


@torch.no_grad()
def _accuracy(model: Model, head: HalvesClassifier, samples: Sequence[SplitSentence], code: str) -> float:
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


def figures(scored: Sequence[Scored]) -> dict[str, dict[str, float]]:
    """System -> its mean accuracies, per cent, and the decrease where there is one."""
    return {s.name: _figures(s) for s in scored}


def _figures(system: Scored) -> dict[str, float]:
    accuracies = dict(zip(("seen languages", "unseen languages"), system.means, strict=True))
    if system.decrease is not None:
        accuracies["relative decrease"] = system.decrease
    return accuracies


def facts(scored: Sequence[Scored]) -> dict[str, Any]:
    """What report.json has besides the figures."""
    return {"chance": CHANCE_ACCURACY, "systems": [asdict(system) for system in scored]}


def blocks(scored: Sequence[Scored]) -> list[Block]:
    """The contents of report.md."""
    means = [
        [s.name, *(f"{value:.1f}" for value in s.means), "–" if s.decrease is None else f"{s.decrease:.1f}"]
        for s in scored
    ]
    parts: list[Block] = [
        text(
            "Captions of split test cut in two, half of them with another's second half. A transformer layer",
            "with one head over the frozen token states learns from the first half of the languages, and is",
            "tested on captions of other pictures. Chance is 50.",
        ),
        Grid(["", "seen accuracy (%)", "unseen accuracy (%)", "relative decrease (%)"], means),
    ]
    for s in scored:
        rows = [
            [code, "seen" if code in s.seen_languages else "unseen", str(s.sentences[code]), f"{value:.1f}"]
            for code, value in s.accuracy.items()
        ]
        parts += [Heading(2, s.name), Grid(["language", "", "sentences", "accuracy (%)"], rows)]
    return parts
