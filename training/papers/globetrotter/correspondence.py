"""Sentence correspondence: do two halves belong to one sentence, in any language (Globetrotter, A.1)?

Captions of split test are cut in two, half of them get another's second half; a small classifier over frozen
token states learns to tell in half of the languages, and is tested in all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, nn

from evaluation.reports.document import Block, Heading
from evaluation.suites.corpus import TOKENISERS
from evaluation.suites.sets import Caption, available, read_captions, read_split
from index.errors import DataError
from index.languages import language
from index.progress import Progress
from index.text.normalisation import words
from training.data.tokens import SEQUENCE, pad
from training.papers.frozen import RunEncoder, open_model
from training.papers.report import ExperimentReport, grid

MIN_WORDS = 4  # of a sentence that is cut
TEST_SHARE = 0.2  # of the pictures, whose captions are only tested on
CHANCE_ACCURACY = 50.0
BATCH_SIZE = 32
LEARNING_RATE = 1e-3


@dataclass(frozen=True)
class SplitSentence:
    """A sentence: the words of its halves, whether they belong together, and its picture."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    belong: bool
    image: str


@dataclass(frozen=True)
class SplitCaptions:
    """Language -> split captions of the pictures to train on, and of the pictures to test on."""

    train: Mapping[str, list[SplitSentence]]
    test: Mapping[str, list[SplitSentence]]


def read_split_captions(data: Path, languages: Sequence[str], seed: int) -> SplitCaptions:
    """Read captions of split test in those of `languages` that have a file, cut, half of them swapped.

    Raises DataError where a language has too few.
    """
    photos = data / "photos"
    codes = sorted(available(photos / "captions", ".tsv", languages, ()))
    images = sorted(read_split(photos / "splits.tsv", "test"))
    random = np.random.default_rng(seed)
    tested = {images[i] for i in random.permutation(len(images))[: max(1, round(TEST_SHARE * len(images)))]}
    train, test = {}, {}
    for code in codes:
        rows = [row for row in read_captions(photos / "captions" / f"{code}.tsv") if row.image in set(images)]
        train[code] = swapped([row for row in rows if row.image not in tested], code, random)
        test[code] = swapped([row for row in rows if row.image in tested], code, random)
        if not train[code] or not test[code]:
            raise DataError(
                f"{photos}: too few captions of split test in {code} have {MIN_WORDS} words or more"
            )
    return SplitCaptions(train, test)


def swapped(captions: Sequence[Caption], code: str, random: np.random.Generator) -> list[SplitSentence]:
    """Cut captions in two; return as many with their own second half as with another's, in random order.

    Words are lower-cased and without punctuation, sentences are cut in the middle between words, and second
    halves are swapped among sentences of the same number of words about different pictures, so that neither
    spelling nor length nor the second half alone gives the label away.
    """
    by_length: dict[int, list[SplitSentence]] = {}
    for caption in captions:
        tokens = words(caption.text, code)
        if len(tokens) >= MIN_WORDS:
            cut = len(tokens) // 2
            sentence = SplitSentence(tuple(tokens[:cut]), tuple(tokens[cut:]), True, caption.image)
            by_length.setdefault(len(tokens), []).append(sentence)
    whole, mixed = [], []
    for sentences in by_length.values():
        order = [sentences[i] for i in random.permutation(len(sentences))]
        mixed += _exchanged(order[: len(order) // 2])
        whole += order[len(order) // 2 :]
    size = min(len(whole), len(mixed))
    chosen = [rows[i] for rows in (whole, mixed) for i in random.permutation(len(rows))[:size]]
    return [chosen[i] for i in random.permutation(len(chosen))]


def _exchanged(sentences: Sequence[SplitSentence]) -> list[SplitSentence]:
    """Each with the second half of the next, where picture and second half differ."""
    return [
        SplitSentence(sentence.first, following.second, False, sentence.image)
        for sentence, following in zip(sentences, [*sentences[1:], *sentences[:1]], strict=True)
        if sentence.image != following.image and sentence.second != following.second
    ]


def tokenize_halves(
    tokenizer: Tokenizer, sentences: Sequence[SplitSentence], code: str, max_tokens: int
) -> list[tuple[list[int], int]]:
    """Tokenise each sentence to at most `max_tokens` ids; also how many of them are the first half's."""
    plain = Tokenizer.from_str(tokenizer.to_str())
    plain.no_padding()
    space = "" if language(code).script in TOKENISERS else " "
    start = [] if (number := _sequence_id(plain)) is None else [number]
    rows = []
    for sentence in sentences:
        first, second = (
            plain.encode(space.join(half), add_special_tokens=False).ids
            for half in (sentence.first, sentence.second)
        )
        rows.append(((start + first + second)[:max_tokens], min(len(start) + len(first), max_tokens)))
    return rows


def _sequence_id(tokenizer: Tokenizer) -> int | None:
    """The id of <seq>, where the tokenizer puts it first."""
    number: int | None = tokenizer.token_to_id(SEQUENCE)
    return number if tokenizer.post_processor is not None else None


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


def correspond(runs: Sequence[Path], data: Path, epochs: int, seed: int) -> list[Scored]:
    """Train a head on the states of each run's encoder and test it (table 5).

    The head is trained on the alphabetically first half of a run's languages with captions of split test.
    """
    return [_score(open_model(folder, data), data, epochs, seed) for folder in runs]


def _score(model: RunEncoder, data: Path, epochs: int, seed: int) -> Scored:
    parts = read_split_captions(data, model.languages, seed)
    codes = sorted(parts.train)
    seen = tuple(codes[: (len(codes) + 1) // 2])
    examples = sum((_examples(model, parts.train[code], code) for code in seen), Examples([], [], []))
    head = train_head(model, examples, epochs, seed)
    accuracy = {code: _accuracy(model, head, parts.test[code], code) for code in codes}
    return Scored(model.name, seen, accuracy, {c: len(parts.test[c]) for c in codes})


def train_head(model: RunEncoder, examples: Examples, epochs: int, seed: int) -> HalvesClassifier:
    """Train a head for `epochs` passes over the examples; the model stays frozen."""
    torch.manual_seed(seed)
    head, draw = HalvesClassifier(model.model.text.width), np.random.default_rng(seed)
    optimiser = torch.optim.Adam(head.parameters(), lr=LEARNING_RATE)
    batches = [
        rows
        for _ in range(epochs)
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


def _logits(model: RunEncoder, head: HalvesClassifier, examples: Examples, rows: Sequence[int]) -> Tensor:
    ids, mask = pad([examples.ids[i] for i in rows], torch.device("cpu"))
    with torch.no_grad():
        states = model.model.text.states(ids, mask)
    first = torch.tensor([examples.first[i] for i in rows])
    out: Tensor = head(states, mask, (torch.arange(ids.shape[1]) >= first[:, None]).long())
    return out


@torch.no_grad()
def _accuracy(
    model: RunEncoder, head: HalvesClassifier, samples: Sequence[SplitSentence], code: str
) -> float:
    examples = _examples(model, samples, code)
    right = 0
    for start in range(0, len(samples), BATCH_SIZE):
        rows = range(start, min(start + BATCH_SIZE, len(samples)))
        answers = (_logits(model, head, examples, rows) > 0).tolist()
        right += sum(answer == examples.belong[i] for answer, i in zip(answers, rows, strict=True))
    return 100 * right / len(samples)


def _examples(model: RunEncoder, samples: Sequence[SplitSentence], code: str) -> Examples:
    rows = tokenize_halves(model.tokenizer, samples, code, model.model.text.max_tokens)
    ids = [np.asarray(row, np.int32) for row, _ in rows]
    return Examples(ids, [first for _, first in rows], [sample.belong for sample in samples])


def report(runs: Sequence[Path], data: Path, epochs: int, seed: int) -> ExperimentReport:
    """Train and test a classifier on each run's encoder and describe what came out (table 5)."""
    scored = correspond(runs, data, epochs, seed)
    note = (
        "Captions of split test cut in two, half of them with another's second half. A transformer layer "
        "with one head over the frozen token states learns from the first half of the languages, and is "
        "tested on captions of other pictures. Accuracy in per cent, chance is 50; the relative decrease "
        "is of what is above it."
    )
    figures: dict[str, dict[str, float]] = {}
    parts: list[Block] = []
    for system in scored:
        seen, unseen = system.means
        figures[system.name] = {"seen languages": seen, "unseen languages": unseen}
        if system.decrease is not None:
            figures[system.name]["relative decrease"] = system.decrease
        rows = {
            f"{code}, {'seen' if code in system.seen_languages else 'unseen'}": {
                "sentences": system.sentences[code], "accuracy": accuracy
            }
            for code, accuracy in system.accuracy.items()
        }  # fmt: skip
        parts += [Heading(2, system.name), grid("language", rows)]
    facts = {"chance": CHANCE_ACCURACY, "systems": [asdict(system) for system in scored]}
    return ExperimentReport("Sentence correspondence", note, figures, facts, parts)
