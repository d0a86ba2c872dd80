"""Suite `consistency`: the gain from asking in several languages (SMALR, Burns et al. 2020, 3.4, CLC-A).

The translations of a question are either human ones ("given"), or the nearest sentences of text/, which does
not contain the human ones ("own"). The scores of all languages are averaged.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path

import numpy as np

from evaluation.measures.recall import recall_at
from evaluation.measures.scores import ALL_PAIRS, PairScore, Table, table_of_pairs
from evaluation.suites.retrieval import PictureVectors, check_space
from evaluation.suites.sets import (
    TEXT_PREFIX,
    available,
    encode,
    line_up,
    read_aligned,
    read_captions,
    read_lines,
    shared_images,
)
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.errors import DataError
from index.search.consistency import mean_scores
from index.vectors.neighbourhoods import csls

BENCHMARK = "multi30k_test_2016"
Translations = dict[str, Vectors]  # language -> (n, d), row i the question i or a translation of it


def consistency(encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str]) -> list[Table]:
    """`data`/benchmark/multi30k_test_2016, with own translations from `data`/text."""
    folder = data / "benchmark" / BENCHMARK
    codes = available(folder, ".txt", known, chosen)
    if len(codes) < 3:
        raise DataError(f"{folder}: of {', '.join(codes)} a third language is missing to ask in as well")
    tests = encode(encoder, read_aligned(folder, codes))
    bank = encode(encoder, _bank(data, codes))
    pairs = [score_consistency(source, target, tests, bank) for source, target in permutations(codes, 2)]
    note = (
        "R@1 and R@10 by CSLS of a question alone and averaged with its translations into other languages: "
        f"given, the human ones, or own, the nearest of {TEXT_PREFIX}LANG.txt ({', '.join(bank)})."
    )
    return [table_of_pairs(f"{BENCHMARK}, in several languages at once", note, pairs, chosen)]


def score_consistency(
    source: str, target: str, tests: Mapping[str, Vectors], bank: Mapping[str, Vectors]
) -> PairScore:
    """One pair of languages; the measures are those of the suite's note."""
    given = {code: rows for code, rows in tests.items() if code != target}
    questions = {
        "alone": {source: tests[source]},
        "own": own_translations(tests[source], source, target, bank),
        "given": given,
    }
    measures: dict[str, float] = {}
    for name, translations in questions.items():
        cosines = {code: rows @ tests[target].T for code, rows in translations.items()}
        recalls = recall_at(csls(mean_scores(cosines)), (1, 10))
        measures |= {f"{name}_r{k}": value for k, value in recalls.items()}
    return PairScore(source, target, len(tests[source]), measures)


def own_translations(
    questions: Vectors, source: str, target: str, bank: Mapping[str, Vectors]
) -> Translations:
    """The questions, (n, d) unit rows, and the nearest of each third language's bank to each."""
    translations = {source: questions}
    for code, rows in bank.items():
        if code not in (source, target):
            translations[code] = rows[np.argmax(questions @ rows.T, axis=1)]
    return translations


def _bank(data: Path, codes: Sequence[str]) -> dict[str, list[str]]:
    files = {code: data / "text" / f"{TEXT_PREFIX}{code}.txt" for code in codes}
    texts = {code: read_lines(file) for code, file in files.items() if file.is_file()}
    if not texts:
        raise DataError(f"{data / 'text'} has no {TEXT_PREFIX}LANG.txt to translate questions with")
    return texts


def picture_consistency(
    encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str], pictures: PictureVectors
) -> list[Table]:
    """The paper's own task: one caption a picture and language, and the pictures; translations as above."""
    check_space(encoder, pictures)
    folder = data / "photos" / "captions"
    codes = available(folder, ".tsv", known, chosen)
    captions = {code: read_captions(folder / f"{code}.tsv") for code in codes}
    names = shared_images(captions, pictures.names)
    row_of = {name: row for row, name in enumerate(pictures.names)}
    images = pictures.vectors[[row_of[name] for name in names]]
    texts = encode(encoder, line_up(captions, pictures.names))
    bank = encode(encoder, _bank(data, codes))
    measures = {code: _with_pictures(code, texts, images, bank) for code in codes}
    means = {key: float(np.mean([row[key] for row in measures.values()])) for key in measures[codes[0]]}
    note = (
        f"One caption a picture and language of split {pictures.split}: mR, the mean of R@1, 5 and 10 both "
        "ways, of captions alone and averaged with translations."
    )
    name = "pictures, in several languages at once"
    return [Table(name, note, len(images), tuple(codes), {ALL_PAIRS: means} | measures)]


def _with_pictures(
    code: str, texts: Mapping[str, Vectors], images: Vectors, bank: Mapping[str, Vectors]
) -> dict[str, float]:
    questions = {
        "alone": {code: texts[code]},
        "own": own_translations(texts[code], code, "", bank),
        "given": texts,
    }
    return {
        f"{name}_mr": _mean_recall(mean_scores({c: rows @ images.T for c, rows in translations.items()}))
        for name, translations in questions.items()
    }


def _mean_recall(scores: Vectors) -> float:
    both = (*recall_at(scores).values(), *recall_at(scores.T).values())
    return float(np.mean(both))
