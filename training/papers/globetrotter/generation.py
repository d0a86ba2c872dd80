"""Translations that a small GPT-2 writes from sentence vectors of other languages (Globetrotter, A.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
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
from training.papers.frozen import Frozen, benchmarks, encoded, photo_captions
from training.papers.globetrotter.writer import Writer, WriterSettings, train_writer

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


def figures(name: str, written: Sequence[Written], target: str) -> dict[str, dict[str, float]]:
    """The encoder `name` -> mean scores over all languages but the one written."""
    others = [w for w in written if w.language != target]
    means: dict[str, float] = {}
    for control, side in (("", "translations"), (", control", "control")):
        scores: list[Scores] = [getattr(w, side) for w in others]
        means[f"chrF{control}"] = float(np.mean([score.chrf for score in scores]))
        means[f"BLEU{control}"] = float(np.mean([score.bleu for score in scores]))
    return {name: means}


def facts(written: Sequence[Written], trial: Trial, target: str) -> dict[str, Any]:
    """What report.json has besides the figures."""
    languages = {w.language: asdict(w) for w in written}
    return {
        "set": trial.name,
        "sentences": len(trial.texts[target]),
        "target": target,
        "languages": languages,
    }


def blocks(written: Sequence[Written], trial: Trial, target: str, settings: WriterSettings) -> list[Block]:
    """The contents of report.md."""
    rows = [
        [
            f"{w.language} (itself)" if w.language == target else w.language,
            *(f"{value:.1f}" for s in (w.translations, w.control) for value in (s.chrf, s.bleu)),
        ]
        for w in written
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
    for w in written:
        items = (f"{sentence} → **{output}** ({reference})" for sentence, output, reference in w.examples)
        parts += [Heading(2, w.language), Text(tuple(items), listed=True)]
    return parts
