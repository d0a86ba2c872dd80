"""Sentence correspondence: do two halves belong to one sentence, in any language (Globetrotter, A.1)?

Captions of split test are cut in two, half of them get another's second half; a small classifier over frozen
token states learns to tell in half of the languages, and is tested in all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn

from evaluation.reports.document import Block, Heading
from evaluation.suites.sets import Caption, available, read_captions, read_split
from index.errors import DataError
from index.languages import has_spaces
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


Halves = Mapping[str, list[SplitSentence]]  # of each language


def read_halves(data: Path, languages: Sequence[str], seed: int) -> tuple[Halves, Halves]:
    """Read captions of split test in those of `languages` that have a file, cut, half of them swapped.

    Returns those of the pictures to train on, and those of the pictures to test on. Raises DataError where a
    language has too few.
    """
    photos = data / "photos"
    images = sorted(read_split(photos / "splits.tsv", "test"))
    random = np.random.default_rng(seed)
    tested = {images[i] for i in random.permutation(len(images))[: max(1, round(TEST_SHARE * len(images)))]}
    train: dict[str, list[SplitSentence]] = {}
    test: dict[str, list[SplitSentence]] = {}
    for code in sorted(available(photos / "captions", ".tsv", languages, ())):
        rows = [row for row in read_captions(photos / "captions" / f"{code}.tsv") if row.image in set(images)]
        train[code] = swapped([row for row in rows if row.image not in tested], code, random)
        test[code] = swapped([row for row in rows if row.image in tested], code, random)
        if not train[code] or not test[code]:
            raise DataError(
                f"{photos}: too few captions of split test in {code} have {MIN_WORDS} words or more"
            )
    return train, test


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


@dataclass(frozen=True)
class Example:
    """A sentence's token ids, how many are the first half's, and whether the halves belong together."""

    ids: NDArray[np.int32]
    first: int
    belong: bool


def tokenised(encoder: RunEncoder, sentences: Sequence[SplitSentence], code: str) -> list[Example]:
    """Tokenise sentences, each cut at the encoder's longest input."""
    plain, longest = Tokenizer.from_str(encoder.tokenizer.to_str()), encoder.model.text.max_tokens
    plain.no_padding()
    space = " " if has_spaces(code) else ""
    start = [plain.token_to_id(SEQUENCE)] if plain.post_processor is not None else []
    examples = []
    for sentence in sentences:
        first, second = (
            plain.encode(space.join(half), add_special_tokens=False).ids
            for half in (sentence.first, sentence.second)
        )
        ids = np.asarray([*start, *first, *second][:longest], np.int32)
        examples.append(Example(ids, min(len(start) + len(first), longest), sentence.belong))
    return examples


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


def train_classifier(
    encoder: RunEncoder, examples: Sequence[Example], epochs: int, seed: int
) -> HalvesClassifier:
    """Train a classifier for `epochs` passes over the examples; the encoder stays frozen."""
    torch.manual_seed(seed)
    classifier, draw = HalvesClassifier(encoder.model.text.width), np.random.default_rng(seed)
    optimiser = torch.optim.Adam(classifier.parameters(), lr=LEARNING_RATE)
    batches = [
        rows
        for _ in range(epochs)
        for rows in np.array_split(draw.permutation(len(examples)), -(-len(examples) // BATCH_SIZE))
    ]
    with Progress(len(batches), unit="steps", label=f"correspondence {encoder.name}") as bar:
        for rows in batches:
            batch = [examples[i] for i in rows]
            truth = torch.tensor([float(example.belong) for example in batch])
            loss = F.binary_cross_entropy_with_logits(_logits(encoder, classifier, batch), truth)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            bar.advance()
    return classifier.eval()


def _logits(encoder: RunEncoder, classifier: HalvesClassifier, examples: Sequence[Example]) -> Tensor:
    ids, mask = pad([example.ids for example in examples], torch.device("cpu"))
    with torch.no_grad():
        states = encoder.model.text.states(ids, mask)
    first = torch.tensor([example.first for example in examples])
    out: Tensor = classifier(states, mask, (torch.arange(ids.shape[1]) >= first[:, None]).long())
    return out


@torch.no_grad()
def accuracy(encoder: RunEncoder, classifier: HalvesClassifier, examples: Sequence[Example]) -> float:
    """The per cent of examples that are told right."""
    right = 0
    for start in range(0, len(examples), BATCH_SIZE):
        batch = examples[start : start + BATCH_SIZE]
        answers = (_logits(encoder, classifier, batch) > 0).tolist()
        right += sum(answer == example.belong for answer, example in zip(answers, batch, strict=True))
    return 100 * right / len(examples)


def measure_correspondence(
    encoder: RunEncoder, data: Path, epochs: int, seed: int
) -> tuple[tuple[str, ...], dict[str, dict[str, float]]]:
    """Train a classifier on the first half of the languages, in alphabetical order, and test it in all.

    Returns the languages that it was trained on, and language -> its sentences and accuracy in per cent.
    """
    train, test = read_halves(data, encoder.languages, seed)
    seen = tuple(train)[: (len(train) + 1) // 2]
    learned = [example for code in seen for example in tokenised(encoder, train[code], code)]
    classifier = train_classifier(encoder, learned, epochs, seed)
    return seen, {
        code: {
            "sentences": len(sentences),
            "accuracy": accuracy(encoder, classifier, tokenised(encoder, sentences, code)),
        }
        for code, sentences in test.items()
    }


def report(runs: Sequence[Path], data: Path, epochs: int, seed: int) -> ExperimentReport:
    """Train and test a classifier on each run's encoder and describe what came out (table 5)."""
    note = (
        "Captions of split test cut in two, half of them with another's second half. A transformer layer "
        "with one head over the frozen token states learns from the first half of the languages, and is "
        "tested on captions of other pictures. Accuracy in per cent, chance is 50; the relative decrease "
        "is of what is above it."
    )
    figures: dict[str, dict[str, float]] = {}
    systems: list[dict[str, object]] = []
    parts: list[Block] = []
    for encoder in [open_model(folder, data) for folder in runs]:
        seen, found = measure_correspondence(encoder, data, epochs, seed)
        sides = [
            [one["accuracy"] for code, one in found.items() if (code in seen) is side]
            for side in (True, False)
        ]
        known, unknown = (float(np.mean(accuracies)) for accuracies in sides)
        figures[encoder.name] = {"seen languages": known, "unseen languages": unknown}
        if known > CHANCE_ACCURACY:
            figures[encoder.name]["relative decrease"] = 100 * (known - unknown) / (known - CHANCE_ACCURACY)
        accuracies = {code: one["accuracy"] for code, one in found.items()}
        systems.append({"name": encoder.name, "seen_languages": seen, "accuracy": accuracies})
        rows = {f"{code}, {'seen' if code in seen else 'unseen'}": one for code, one in found.items()}
        parts += [Heading(2, encoder.name), grid("language", rows)]
    facts = {"chance": CHANCE_ACCURACY, "systems": systems}
    return ExperimentReport("Sentence correspondence", note, figures, facts, parts)
