"""Translations written by a small GPT-2 that reads vectors of other languages (globetrotter, A.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.reports.document import Block, Grid, Heading, Text, text
from evaluation.suites.corpus import Scores, score
from evaluation.suites.sets import read_captions, read_split
from index.encoder.vectors import unit
from index.errors import DataError, UsageError
from index.progress import Progress
from training.papers.experiments.sentences import Frozen, benchmarks, encoded, photo_captions
from training.papers.experiments.writer import Writer, WriterSettings, train_writer

SHOWN = 3  # examples a language
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Written:
    """Sentences written from one language's vectors, and from vectors of other sentences of that language."""

    language: str
    translations: Scores
    control: Scores
    examples: Sequence[tuple[str, str, str]]  # sentence, what was written, reference


@dataclass(frozen=True)
class Trial:
    """What to write from: lines that correspond, by language, the target's being the references."""

    name: str
    texts: Mapping[str, Sequence[str]]


def read_trial(encoder: Frozen, data: Path, target: str, limit: int) -> Trial:
    """The first benchmark set with the target and another language of the encoder, else captions of the test
    pictures; `limit` lines of it at most."""
    if target not in encoder.languages:
        raise UsageError(f"{encoder.name} does not know {target}: give --target, one of {_listed(encoder)}")
    for name, texts in benchmarks(data, encoder.languages).items():
        if target in texts:
            return Trial(name, {code: lines[:limit] for code, lines in texts.items()})
    texts = photo_captions(data, "test", encoder.languages, limit)
    if target not in texts:
        raise DataError(f"{data}: no captions in {target} to compare with: give another --target")
    return Trial("photos, split test", texts)


def generate(
    encoder: Frozen, data: Path, trial: Trial, target: str, settings: WriterSettings
) -> list[Written]:
    """Train a writer on the target's captions of split train, and have it write from every language."""
    images = read_split(data / "photos" / "splits.tsv", "train")
    rows = read_captions(data / "photos" / "captions" / f"{target}.tsv")
    sentences = [row.text for row in rows if row.image in images]
    steps = settings.epochs * -(-len(sentences) // settings.batch_size)
    with Progress(steps, unit="steps", label="learn to write") as bar:
        writer = train_writer(sentences, centred(encoder.encode(sentences)), settings, bar.advance)
    vectors = {code: centred(rows) for code, rows in encoded(encoder, trial.texts).items()}
    with Progress(2 * sum(map(len, vectors.values())), unit="sentences", label="write") as bar:
        return [
            _written(writer, code, vectors[code], trial, target, settings.seed, bar)
            for code in sorted(vectors, key=lambda code: (code == target, code))
        ]


def centred(vectors: Vectors) -> Vectors:
    """Unit rows without what a language's sentences have in common, unit again."""
    return unit(vectors - vectors.mean(axis=0))


def _written(
    writer: Writer, code: str, vectors: Vectors, trial: Trial, target: str, seed: int, bar: Progress
) -> Written:
    references = list(trial.texts[target])
    found = writer.write(vectors, bar.advance)
    other = writer.write(vectors[_others(len(vectors), seed)], bar.advance)
    shown = list(zip(trial.texts[code], found, references, strict=True))[:SHOWN]
    return Written(code, score(found, references, target), score(other, references, target), shown)


def _others(count: int, seed: int) -> NDArray[np.int64]:
    """For each of `count` places another one, each once."""
    order = np.random.default_rng(seed).permutation(count)
    found = np.empty(count, np.int64)
    found[order] = np.roll(order, 1)
    return found


def facts(written: Sequence[Written], trial: Trial, target: str) -> dict[str, Any]:
    """For report.json."""
    return {
        "set": trial.name,
        "sentences": len(trial.texts[target]),
        "target": target,
        "languages": {
            one.language: {
                "chrf": one.translations.chrf,
                "bleu": one.translations.bleu,
                "control_chrf": one.control.chrf,
                "control_bleu": one.control.bleu,
                "examples": one.examples,
            }
            for one in written
        },
    }


def blocks(written: Sequence[Written], trial: Trial, target: str, settings: WriterSettings) -> list[Block]:
    """For report.md."""
    rows = [
        [
            f"{one.language} (itself)" if one.language == target else one.language,
            *(f"{value:.1f}" for s in (one.translations, one.control) for value in (s.chrf, s.bleu)),
        ]
        for one in written
    ]
    parts: list[Block] = [
        text(
            f"A GPT-2 of {settings.layers} layers and width {settings.width}, its weights from nothing,",
            f"learned for {settings.epochs} epochs to write {target} captions of split train from vectors.",
            f"Here it writes {len(trial.texts[target])} sentences of {trial.name} from the vectors of each",
            "language. Control: from the vector of another sentence.",
        ),
        Grid(["from", "chrF", "BLEU", "chrF, control", "BLEU, control"], rows),
    ]
    for one in written:
        told = tuple(f"{sentence} → **{found}** ({reference})" for sentence, found, reference in one.examples)
        parts += [Heading(2, one.language), Text(told, listed=True)]
    return parts


def line(one: Written) -> str:
    """chrF and BLEU, and the control's."""
    return (
        f"{one.language}: chrF {one.translations.chrf:.1f} (control {one.control.chrf:.1f}), "
        f"BLEU {one.translations.bleu:.1f} ({one.control.bleu:.1f})"
    )


def _listed(encoder: Frozen) -> str:
    return ", ".join(encoder.languages)
