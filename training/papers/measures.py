"""Measures a system, an encoder of any kind, by the same figures: those of the papers' tables.

In per cent:
cosine_*, csls_*: R@1, R@5 and R@10 among the 1,000 sentences of Multi30k test 2016, mean over the ordered
pairs of the languages to compare. positives: Globetrotter's own measure on captions of 200 test pictures, all
languages of the system in one pool. scripts_*: R@1 and R@10 by CSLS between captions of one test picture,
mean over the pairs of languages without a common script, where spelling can't help.
mr: mean of image-sentence retrieval's R@1, R@5 and R@10 in both directions, over the system's languages.
weights: thousands of learned numbers from tokens to a sentence's embedding. seconds: of training.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from evaluation.measures.recall import retrieved_positives
from evaluation.measures.scores import ALL_PAIRS, PairScore, score_translation
from evaluation.suites.sets import available, line_up, read_aligned, read_captions, read_split
from evaluation.suites.translation import BENCHMARK, POOL_CAPTIONS
from index.arrays import Vectors
from index.errors import DataError
from index.languages import language
from training.data.captions import load_split
from training.data.folder import open_pictures
from training.data.settings import PHOTO_SET, DataSettings
from training.data.tokens import tokenize
from training.encoders.two_branch import TwoBranch
from training.encoders.vision import load_backbone
from training.loop.model import load_model
from training.loop.prepare import picture_sources, training_captions
from training.loop.run import Run, open_run
from training.loop.validation import ValidationSet, embed_texts, validate

TRANSLATION_MEASURES = tuple(f"{ranking}_r{k}" for ranking in ("cosine", "csls") for k in (1, 5, 10))
RECALLS = 6  # R@1, R@5 and R@10 in both directions, whose sum a validation gives
CPU = torch.device("cpu")
Encode = Callable[[Mapping[str, Sequence[str]]], Mapping[str, Vectors]]
Figures = dict[str, float]


def measure(encode: Encode, data: Path, known: Sequence[str], compared: Sequence[str]) -> Figures:
    """Measure what `encode` makes of sentences in the languages `known`.

    encode: language -> n sentences to language -> (n, d) unit rows. compared: the languages of Multi30k to
    compare, as far as they are known; all that are there if it is empty.
    """
    folder = data / "benchmark" / BENCHMARK
    chosen = [code for code in compared if code in known] or available(folder, ".txt", known)
    texts = read_aligned(folder, chosen)
    translation = score_translation("", "", encode(texts)).means[ALL_PAIRS]
    captions = score_translation("", "", encode(_photo_captions(data, known))).pairs
    pool = encode(_photo_captions(data, known, POOL_CAPTIONS))
    figures = {name: translation[name] for name in TRANSLATION_MEASURES}
    return figures | between_scripts(captions) | {"positives": retrieved_positives(pool)}


def measure_run(folder: Path, data: Path, compared: Sequence[str]) -> Figures:
    """Measure the encoder of a finished run in `folder`, and its retrieval between sentences and pictures.

    UsageError if the run is not there or not finished.
    """
    run = open_run(folder)
    result = run.result()
    if not (data / PHOTO_SET).is_dir():  # a backbone not found there would be looked for on the net
        raise DataError(f"{data} has no {PHOTO_SET}/: docs/data.md describes the data folder")
    model, tokenizer, languages = load_model(run, data), run.tokenizer(), run.recipe.data.languages

    def encode(texts: Mapping[str, Sequence[str]]) -> dict[str, Vectors]:
        return {code: embed_texts(model, tokenize(tokenizer, lines), CPU) for code, lines in texts.items()}

    figures = measure(encode, data, languages, compared)
    weights, seconds = result["text_weights"] / 1000, float(result["seconds"])
    return figures | {"mr": _retrieved(run, model, data), "weights": weights, "seconds": seconds}


def _retrieved(run: Run, model: TwoBranch, data: Path) -> float:
    """mR among the photographs of split test and all their captions, each language by itself."""
    recipe = run.recipe
    shown = load_split(data, "test", DataSettings(languages=recipe.data.languages, pictures="shared"))
    archive = open_pictures(data, recipe.data, recipe.vision.image_size)
    archive.require(shown.pictures)
    backbone = model.backbone or load_backbone(recipe.vision.backbone, data)
    _, pictures = picture_sources(run, archive, backbone, training_captions(run, data), shown)
    tokens = tokenize(run.tokenizer(), [caption.text for caption in shown.captions])
    recalls = validate(model, ValidationSet(shown, tokens, pictures), CPU)
    return float(np.mean(list(recalls.values()))) / RECALLS


def _photo_captions(data: Path, languages: Sequence[str], limit: int | None = None) -> dict[str, list[str]]:
    """Read language -> captions of split test, row i about the same picture, for languages that have a file.

    Raises DataError where fewer than two do, or no picture has a caption in each.
    """
    folder = data / PHOTO_SET
    codes = available(folder / "captions", ".tsv", languages)
    captions = {code: read_captions(folder / "captions" / f"{code}.tsv") for code in codes}
    lines = line_up(captions, read_split(folder / "splits.tsv", "test"), limit=limit)
    if not lines[codes[0]]:
        raise DataError(f"{folder}: no picture of split test has a caption in each of {', '.join(codes)}")
    return lines


def between_scripts(pairs: Sequence[PairScore]) -> Figures:
    """Mean CSLS R@1 and R@10 over the pairs of languages in different scripts; empty without such pairs."""
    crossing = [pair for pair in pairs if language(pair.source).script != language(pair.target).script]
    names = ("csls_r1", "csls_r10") if crossing else ()
    return {f"scripts_{name}": float(np.mean([pair.measures[name] for pair in crossing])) for name in names}
