"""Translations that a small GPT-2 writes from sentence vectors of other languages (Globetrotter, A.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.reports.document import Block, Heading, Text
from evaluation.suites.corpus import Scores, score
from evaluation.suites.sets import read_captions, read_split
from index.encoder.vectors import unit
from index.errors import DataError, UsageError
from index.progress import Progress
from training.papers.frozen import Frozen, benchmarks, encoded, photo_captions
from training.papers.globetrotter.writer import Writer, WriterSettings, train_writer
from training.papers.report import ExperimentReport, grid

EXAMPLES_PER_LANGUAGE = 3  # per language in the report
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Written:
    """Scores of sentences written from one language's vectors; `control`: from vectors of other sentences."""

    language: str
    translations: Scores
    control: Scores
    examples: Sequence[tuple[str, str, str]]  # sentence, translation, reference


@dataclass(frozen=True)
class Trial:
    """Language -> aligned lines to write from; those in the target language are the references."""

    name: str
    texts: Mapping[str, Sequence[str]]


def read_trial(encoder: Frozen, data: Path, target: str, limit: int) -> Trial:
    """Read at most `limit` lines of the first benchmark set with the target and another of the languages.

    Where there is none, captions of the test pictures. UsageError or DataError where the target has none.
    """
    if target not in encoder.languages:
        known = ", ".join(encoder.languages)
        raise UsageError(f"{encoder.name} does not know {target}: give --target, one of {known}")
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
    """Unit rows less their mean, which marks the language, unit again."""
    return unit(vectors - vectors.mean(axis=0))


def _written(
    writer: Writer, code: str, vectors: Vectors, trial: Trial, target: str, seed: int, bar: Progress
) -> Written:
    references = list(trial.texts[target])
    translations = writer.write(vectors, bar.advance)
    control = writer.write(vectors[_derangement(len(vectors), seed)], bar.advance)
    examples = list(zip(trial.texts[code], translations, references, strict=True))[:EXAMPLES_PER_LANGUAGE]
    return Written(
        code, score(translations, references, target), score(control, references, target), examples
    )


def _derangement(count: int, seed: int) -> NDArray[np.int64]:
    """A random permutation of `count` places that leaves none where it was."""
    order = np.random.default_rng(seed).permutation(count)
    places = np.empty(count, np.int64)
    places[order] = np.roll(order, 1)
    return places


def report(
    encoder: Frozen, data: Path, target: str, sentences: int, settings: WriterSettings
) -> ExperimentReport:
    """Train a writer, have it write and describe what came out.

    UsageError or DataError where there is nothing to write from.
    """
    trial = read_trial(encoder, data, target, sentences)
    written = generate(encoder, data, trial, target, settings)
    note = (
        f"A GPT-2 of {settings.layers} layers and width {settings.width}, its weights from nothing, "
        f"learned for {settings.epochs} epochs to write {target} captions of split train from vectors. "
        f"Here it writes {len(trial.texts[target])} sentences of {trial.name} from the vectors of each "
        f"language; means over all but {target} itself. Control: from the vector of another sentence."
    )
    rows = {w.language + (" (itself)" if w.language == target else ""): _scores(w) for w in written}
    others = [_scores(w) for w in written if w.language != target]
    means = {name: float(np.mean([scores[name] for scores in others])) for name in others[0]}
    parts: list[Block] = [Heading(2, "From each language"), grid("from", rows)]
    for w in written:
        items = (f"{sentence} → **{output}** ({reference})" for sentence, output, reference in w.examples)
        parts += [Heading(2, w.language), Text(tuple(items), listed=True)]
    facts = {
        "set": trial.name,
        "sentences": len(trial.texts[target]),
        "target": target,
        "languages": {w.language: asdict(w) for w in written},
    }
    return ExperimentReport("Generation", note, {encoder.name: means}, facts, parts)


def _scores(written: Written) -> dict[str, float]:
    return {
        f"{name}{what}": value
        for what, scores in (("", written.translations), (", control", written.control))
        for name, value in (("chrF", scores.chrf), ("BLEU", scores.bleu))
    }
