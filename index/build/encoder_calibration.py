"""Fits the confidence that comes with an encoder on text whose right answers are known."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import permutations
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from index.build.probes import dictionary, everyday, reworded, scenes, shortened
from index.confidence.models import Model, Models, fit
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.vectors.neighbourhoods import csls

POOL_SIZES = (100, 300, 1000)  # candidates; several sizes, since confidence depends on the number
MAX_PAIRS = 60  # most language pairs of a set: a set in 100 languages must not outweigh one in four
ENGLISH = "en"
Columns = dict[str, NDArray[np.float64]]


def calibrate(encoder: TextEncoder, sets: Sequence[Mapping[str, Vectors]], seed: int) -> Models:
    """Fit both models; that of sentences on `sets` of (n, d) unit vectors a language.

    Row i of a set is about the same in each language. Without a set of two languages, that of sentences is
    fitted on the English scenes and on these with a word left out.
    """
    several = [vectors for vectors in sets if len(vectors) > 1]
    if not several:
        english = scenes(ENGLISH)
        several = [{ENGLISH: encoder.encode(english), "shortened": encoder.encode(shortened(english))}]
    return Models(
        sentence=calibrate_sentences(several, seed),
        paraphrase=calibrate_paraphrases(encoder, seed),
        word=calibrate_words(encoder),
    )


def calibrate_scenes(encoder: TextEncoder, seed: int) -> Models:
    """Fit both models on text of this project alone."""
    texts = {code: lines for code in encoder.bundle.manifest.languages if (lines := scenes(code))}
    return calibrate(encoder, [{code: encoder.encode(lines) for code, lines in texts.items()}], seed)


def calibrate_sentences(sets: Sequence[Mapping[str, Vectors]], seed: int) -> Model:
    """For each ordered pair of languages (at most MAX_PAIRS of a set, drawn by `seed`), ask every sentence.

    It is asked in pools of POOL_SIZES candidates, once with the right answer among them and once without, so
    that a low confidence also means "not in the index".
    """
    draw = np.random.default_rng(seed)
    answers: list[tuple[Columns, NDArray[np.bool_]]] = []
    for vectors in sets:
        n, pairs = len(next(iter(vectors.values()))), list(permutations(vectors, 2))
        if len(pairs) > MAX_PAIRS:
            pairs = [pairs[i] for i in draw.choice(len(pairs), MAX_PAIRS, replace=False)]
        for source, target in pairs:
            for size in sorted({min(n, pool) for pool in POOL_SIZES}):
                rows = draw.choice(n, size, replace=False)
                similarities = vectors[source][rows] @ vectors[target][rows].T
                answers += [top_answers(similarities.copy(), answerable) for answerable in (True, False)]
    return _fitted(answers)


def calibrate_paraphrases(encoder: TextEncoder, seed: int) -> Model:
    """Ask reworded scenes and sayings of each language among the texts themselves, as sentences are asked.

    By cosine and gap alone: what else is evidence of them an index computes in its own way.
    """
    draw = np.random.default_rng(seed)
    answers: list[tuple[Columns, NDArray[np.bool_]]] = []
    codes = [code for code in encoder.bundle.manifest.languages if everyday(code)] or [ENGLISH]
    for code in codes:
        texts = everyday(code)
        rows = draw.permutation(len(texts))[: POOL_SIZES[-1]]
        chosen = [texts[row] for row in rows.tolist()]
        own, asked = (encoder.encode(lines, language=code) for lines in (chosen, reworded(chosen, seed)))
        for size in POOL_SIZES:
            similarities = asked[:size] @ own[:size].T
            answers += [top_answers(similarities.copy(), answerable) for answerable in (True, False)]
    return _fitted([({name: part[name] for name in ("cosine", "gap")}, right) for part, right in answers])


def top_answers(similarities: NDArray[np.floating], answerable: bool) -> tuple[Columns, NDArray[np.bool_]]:
    """(n, n) cosines -> the evidence of each row's best answer by CSLS, (n,) each, and whether it is right.

    The right answer of row i is in column i. Unless `answerable`, the right answers are removed:
    `similarities` is modified in place.
    """
    rows = np.arange(len(similarities))
    if not answerable:
        similarities[rows, rows] = -1
    scores = csls(similarities)
    order = np.argsort(-scores, axis=1)[:, :2]
    best, second = order[:, 0], order[:, 1]
    columns = {
        "cosine": similarities[rows, best],
        "score": scores[rows, best],
        "gap": scores[rows, best] - scores[rows, second],
        "log_candidates": np.full(len(rows), np.log(len(rows))),
    }
    return columns, (best == rows) & answerable


def calibrate_words(encoder: TextEncoder) -> Model:
    """Ask half of the words of each dictionary of corpora/dictionary, in both directions."""
    answers = []
    for source, target, entries in dictionary():
        answers.append(_top_words(encoder, source, target, entries))
        answers.append(_top_words(encoder, target, source, [(other, word) for word, other in entries]))
    return _fitted(answers)


def _top_words(
    encoder: TextEncoder, source: str, target: str, entries: Sequence[tuple[str, str]]
) -> tuple[Columns, NDArray[np.bool_]]:
    """The evidence of the best answers to words among the translations of a dictionary; which are right."""
    translations: dict[str, set[str]] = defaultdict(set)
    for word, translation in entries:
        translations[word].add(translation)
    words, answers = list(translations), sorted({answer for _, answer in entries})
    similarities = encoder.word_vectors(words, source) @ encoder.word_vectors(answers, target).T
    scores = csls(similarities)
    asked = np.array([row for row, word in enumerate(words) if crc32(word.encode()) % 2 == 0], np.int64)
    order = np.argsort(-scores[asked], axis=1)
    best, second = order[:, 0], order[:, 1]
    columns = {
        "cosine": similarities[asked, best],
        "score": scores[asked, best],
        "gap": scores[asked, best] - scores[asked, second],
        "shortfall": scores[asked, best] - scores[:, best].max(axis=0),
    }
    pairs = zip(asked.tolist(), best.tolist(), strict=True)
    right = [answers[column] in translations[words[row]] for row, column in pairs]
    return columns, np.array(right, bool)


def _fitted(answers: Sequence[tuple[Columns, NDArray[np.bool_]]]) -> Model:
    columns = {name: np.concatenate([part[name] for part, _ in answers]) for name in answers[0][0]}
    return fit(columns, np.concatenate([right for _, right in answers]))
