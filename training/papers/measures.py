"""Measures a system, a frozen encoder of any kind, by the same figures: those of the papers' tables.

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

from evaluation.measures.recall import retrieved_positives
from evaluation.measures.scores import ALL_PAIRS, PairScore, score_translation
from evaluation.suites.retrieval import score_retrieval
from evaluation.suites.sets import available, read_aligned, read_captions
from evaluation.suites.translation import BENCHMARK, POOL_CAPTIONS
from index.languages import language
from training.export.picture_vectors import picture_vectors
from training.loop.run import open_run
from training.papers.frozen import Vectors, encoded, open_model, photo_captions

TRANSLATION_MEASURES = tuple(f"{ranking}_r{k}" for ranking in ("cosine", "csls") for k in (1, 5, 10))
Encode = Callable[[Mapping[str, Sequence[str]]], Mapping[str, Vectors]]
Figures = dict[str, float]


def measure(encode: Encode, data: Path, known: Sequence[str], compared: Sequence[str]) -> Figures:
    """Measure what `encode` makes of sentences in the languages `known`.

    encode: language -> n sentences to language -> (n, d) unit rows. compared: the languages of Multi30k to
    compare, as far as they are known; all that are there if it is empty.
    """
    folder = data / "benchmark" / BENCHMARK
    chosen = [code for code in compared if code in known] or available(folder, ".txt", known, ())
    texts = read_aligned(folder, chosen)
    translation = score_translation("", "", encode(texts)).means[ALL_PAIRS]
    captions = score_translation("", "", encode(photo_captions(data, "test", known))).pairs
    pool = encode(photo_captions(data, "test", known, POOL_CAPTIONS))
    figures = {name: translation[name] for name in TRANSLATION_MEASURES}
    return figures | between_scripts(captions) | {"positives": retrieved_positives(pool)}


def measure_run(folder: Path, data: Path, compared: Sequence[str]) -> Figures:
    """Measure the encoder of a finished run in `folder`, and its retrieval between sentences and pictures."""
    model, result = open_model(folder, data), open_run(folder).result()
    figures = measure(lambda texts: encoded(model, texts), data, model.languages, compared)
    pictures = picture_vectors(folder, data, "test")
    rows, photos = {name: row for row, name in enumerate(pictures.names)}, data / "photos" / "captions"
    captions = {
        code: [line for line in read_captions(photos / f"{code}.tsv") if line.image in rows]
        for code in available(photos, ".tsv", model.languages, ())
    }
    owners = {code: [rows[line.image] for line in lines] for code, lines in captions.items()}
    sentences = encoded(model, {code: [line.text for line in lines] for code, lines in captions.items()})
    retrieval = score_retrieval(pictures, sentences, owners).means[ALL_PAIRS]
    weights, seconds = result["text_weights"] / 1000, float(result["seconds"])
    return figures | {"mr": retrieval["mr"], "weights": weights, "seconds": seconds}


def between_scripts(pairs: Sequence[PairScore]) -> Figures:
    """Mean CSLS R@1 and R@10 over the pairs of languages in different scripts; empty without such pairs."""
    crossing = [pair for pair in pairs if language(pair.source).script != language(pair.target).script]
    names = ("csls_r1", "csls_r10") if crossing else ()
    return {f"scripts_{name}": float(np.mean([pair.measures[name] for pair in crossing])) for name in names}
