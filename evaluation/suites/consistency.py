"""Suite `consistency`: what asking in several languages at once gives (SMALR, Burns et al. 2020, 3.4).

The translations of a question are the human ones, "given", or "own": the nearest of text/, which does not
hold the human ones. Their scores are averaged (CLC-A), or weighed as learned on validation captions (CLC-C).
"""

from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path

import numpy as np

from evaluation.measures.recall import recall_at
from evaluation.measures.scores import ALL, PairScore, Table, table_of_pairs
from evaluation.suites.learned_consistency import fit_consistency
from evaluation.suites.registry import encode
from evaluation.suites.retrieval import PictureVectors, check_space
from evaluation.suites.sets import (
    TEXT,
    available,
    line_up,
    read_aligned,
    read_captions,
    read_lines,
    read_split,
    shared_images,
)
from index.encoder.text_encoder import TextEncoder, Vectors
from index.errors import DataError
from index.search.consistency import Consistency, mean_scores
from index.search.hubness import csls

BENCHMARK, LEARNED = "multi30k_test_2016", "consistency.json"
Translated = dict[str, Vectors]  # language -> (n, d), row i the question i or a translation of it


def consistency(
    encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str], out: Path
) -> list[Table]:
    """`data`/benchmark/multi30k_test_2016, with own translations from `data`/text; what CLC-C learned goes to
    `out`/consistency.json, for index.consistency."""
    folder = data / "benchmark" / BENCHMARK
    codes = available(folder, ".txt", known, chosen)
    if len(codes) < 3:
        raise DataError(f"{folder}: of {', '.join(codes)} a third language is missing to ask in as well")
    tests = encode(encoder, read_aligned(folder, codes))
    bank = encode(encoder, _bank(data, codes))
    learned = learn(encode(encoder, _validation(data, codes)), bank)
    out.mkdir(parents=True, exist_ok=True)
    learned.write(out / LEARNED)
    pairs = [score_consistency(one, other, tests, bank, learned) for one, other in permutations(codes, 2)]
    note = (
        "R@1 and R@10 by CSLS of a question alone and with its translations into the other languages: given, "
        f"the human ones, or own, the nearest of {TEXT}LANG.txt ({', '.join(bank)}); A: averaged, C: weighed "
        "as learned from validation captions with own translations."
    )
    return [table_of_pairs(f"{BENCHMARK}, in several languages at once", note, pairs, chosen)]


def learn(validation: Mapping[str, Vectors], bank: Mapping[str, Vectors]) -> Consistency:
    """CLC-C from aligned captions, language -> (n, d), asked with own translations."""
    codes = tuple(sorted(validation))
    asked = (
        (own_translations(validation[one], one, other, bank), validation[other])
        for one, other in permutations(codes, 2)
    )
    return fit_consistency(codes, asked)


def score_consistency(
    source: str, target: str, tests: Mapping[str, Vectors], bank: Mapping[str, Vectors], learned: Consistency
) -> PairScore:
    """One pair of languages; the measures are those of the suite's note."""
    own = own_translations(tests[source], source, target, bank)
    given = {code: rows for code, rows in tests.items() if code != target}
    measures = _recalls("alone", tests[source] @ tests[target].T)
    for name, asked in (("own", own), ("given", given)):
        cosines = {code: rows @ tests[target].T for code, rows in asked.items()}
        measures |= _recalls(f"{name}_a", mean_scores(cosines))
        measures |= _recalls(f"{name}_c", learned(cosines))
    return PairScore(source, target, len(tests[source]), measures)


def own_translations(questions: Vectors, source: str, target: str, bank: Mapping[str, Vectors]) -> Translated:
    """The questions, (n, d) unit rows, and the nearest of each third language's bank to each."""
    found = {source: questions}
    for code, rows in bank.items():
        if code not in (source, target):
            found[code] = rows[np.argmax(questions @ rows.T, axis=1)]
    return found


def _recalls(name: str, scores: Vectors) -> dict[str, float]:
    return {f"{name}_r{k}": value for k, value in recall_at(csls(scores), (1, 10)).items()}


def _bank(data: Path, codes: Sequence[str]) -> dict[str, list[str]]:
    files = {code: data / "text" / f"{TEXT}{code}.txt" for code in codes}
    found = {code: read_lines(file) for code, file in files.items() if file.is_file()}
    if not found:
        raise DataError(f"{data / 'text'} has no {TEXT}LANG.txt to translate questions with")
    return found


def _validation(data: Path, codes: Sequence[str]) -> dict[str, list[str]]:
    folder = data / "photos"
    captions = {code: read_captions(folder / "captions" / f"{code}.tsv") for code in codes}
    return line_up(captions, read_split(folder / "splits.tsv", "dev"))


def picture_consistency(
    encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str], pictures: PictureVectors
) -> list[Table]:
    """The paper's own task: one caption a picture and language, and the pictures; translations as above.

    C is learned on half of the pictures; everything is measured on the other half.
    """
    check_space(encoder, pictures)
    folder = data / "photos" / "captions"
    codes = available(folder, ".tsv", known, chosen)
    captions = {code: read_captions(folder / f"{code}.tsv") for code in codes}
    texts, names = line_up(captions, pictures.names), shared_images(captions, pictures.names)
    place = {name: row for row, name in enumerate(pictures.names)}
    shown = pictures.vectors[[place[name] for name in names]]
    spoken, bank = encode(encoder, texts), encode(encoder, _bank(data, codes))
    half = len(shown) // 2
    learned = fit_consistency(
        codes, ((own_translations(spoken[code][:half], code, "", bank), shown[:half]) for code in codes)
    )
    rest = {code: rows[half:] for code, rows in spoken.items()}
    found = {code: _with_pictures(code, rest, shown[half:], bank, learned) for code in codes}
    means = {key: float(np.mean([row[key] for row in found.values()])) for key in found[codes[0]]}
    note = (
        f"One caption a picture and language of split {pictures.split}: mR, the mean of R@1, 5 and 10 both "
        f"ways, of captions alone and with translations; C was learned on {half} other pictures."
    )
    name = "pictures, in several languages at once"
    return [Table(name, note, len(shown) - half, tuple(codes), {ALL: means} | found)]


def _with_pictures(
    code: str,
    spoken: Mapping[str, Vectors],
    shown: Vectors,
    bank: Mapping[str, Vectors],
    learned: Consistency,
) -> dict[str, float]:
    measures = {"alone_mr": _mean_recall(spoken[code] @ shown.T)}
    for name, asked in (("own", own_translations(spoken[code], code, "", bank)), ("given", spoken)):
        cosines = {language: rows @ shown.T for language, rows in asked.items()}
        measures[f"{name}_a_mr"] = _mean_recall(mean_scores(cosines))
        measures[f"{name}_c_mr"] = _mean_recall(learned(cosines))
    return measures


def _mean_recall(scores: Vectors) -> float:
    both = (*recall_at(scores).values(), *recall_at(scores.T).values())
    return float(np.mean(both))
