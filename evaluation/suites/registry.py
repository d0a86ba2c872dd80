"""The suites: what `passepartout evaluate SUITE` measures, by name."""

from collections.abc import Callable, Sequence
from pathlib import Path

from evaluation.measures.scores import Table
from evaluation.suites.confidence import confidence
from evaluation.suites.corpus import corpus_translation
from evaluation.suites.english import everyday, picture_sets
from evaluation.suites.retrieval import PictureVectors, retrieval
from evaluation.suites.translation import aligned, multi30k, photos, pictograms, scenes
from evaluation.suites.words import word_translation
from index.encoder.text_encoder import TextEncoder

# Encoder, data, languages that the encoder knows, languages to average over too -> tables.
Suite = Callable[[TextEncoder, Path, Sequence[str], Sequence[str]], list[Table]]
PictureSuite = Callable[[TextEncoder, Path, Sequence[str], Sequence[str], PictureVectors], list[Table]]

SUITES: dict[str, Suite] = {
    "multi30k": multi30k,
    "aligned": aligned,
    "everyday": everyday,
    "scenes": scenes,
    "photos": photos,
    "sets": picture_sets,
    "corpus": corpus_translation,
    "words": word_translation,
    "pictograms": pictograms,
    "confidence": confidence,
}

# Those that measure with the pictures that `passepartout pictures` embedded.
PICTURE_SUITES: dict[str, PictureSuite] = {"retrieval": retrieval}

# What the report of a suite is made with, besides numpy: asked for before the work begins.
EXTRAS = {"corpus": ("sacrebleu",)}
