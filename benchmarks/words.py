"""Words asked of an index, right by a dictionary: what users of `POST /translate/word` get.

    python -m benchmarks.words --index INDEX --dictionary en:de=FILE.tsv [--dictionary ...]

Each dictionary is asked in both directions; "both" is over the answers of the two. asked: words that the
index knows and has a translation of, so that they can be answered right. P@k: per cent of them with a
translation among the k first answers; of_all: P@1 of all words of the dictionary. confidence: mean of the
first answers' confidence, in per cent, to be compared with P@1; off: the expected calibration error, in per
cent, and off_by_chance: what it would be for so few words if every confidence were exact (Monte Carlo);
sure: per cent with a confidence above 0.5, right: per cent right of these.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import click
import numpy as np
from numpy.typing import NDArray

from evaluation.suites.words import Dictionary, read_dictionary
from index.answers.translator import Translator
from index.answers.word_index import fold
from index.confidence.models import calibration_error

KS = (1, 5, 10)
SURE_CONFIDENCE = 0.5
CHANCE_DRAWS = 1000  # of outcomes, for off_by_chance
# Of a dictionary, by its words: what is chosen or fitted by it is by the first alone.
HALVES = ("dev", "test")


@click.command()
@click.option("--index", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--dictionary", "dictionaries", multiple=True, required=True, metavar="FROM:TO=FILE")
@click.option("--half", type=click.Choice(HALVES), help="Only the words of this half. [default: all]")
def main(index: Path, dictionaries: tuple[str, ...], half: str | None) -> None:
    """Print one JSON object: direction, or both -> its figures."""
    translator = Translator.open(index)
    rows = {}
    for option in dictionaries:
        dictionary = read_dictionary(option)
        pair = f"{dictionary.source}-{dictionary.target}"
        answered = [ask(translator, direction, half) for direction in (dictionary, _reversed(dictionary))]
        rows[pair] = figures(answered[:1])
        rows[f"{dictionary.target}-{dictionary.source}"] = figures(answered[1:])
        rows[f"{pair}, both"] = figures(answered)
    click.echo(json.dumps(rows, indent=1))


@dataclass(frozen=True)
class WordAnswers:
    """The answers to n of a dictionary's `words`.

    `hits` (n, 10): which answers are right, best first; `confidences` (n,): the first answers'.
    """

    words: int
    hits: NDArray[np.bool_]
    confidences: NDArray[np.float64]


def ask(translator: Translator, dictionary: Dictionary, half: str | None = None) -> WordAnswers:
    """Ask the words of a dictionary, or of one half of it, that can be answered right."""
    source_words, target_words = (
        set(translator.word_indexes[code].spellings) for code in (dictionary.source, dictionary.target)
    )
    right: dict[str, set[str]] = defaultdict(set)
    for word, translation in dictionary.entries:
        if half in (None, HALVES[crc32(word.encode()) % 2]):
            right[word].add(translation)
    asked = [
        word for word, translations in right.items() if word in source_words and translations & target_words
    ]
    answers = translator.words(asked, dictionary.source, dictionary.target, max(KS))
    hits = np.array(
        [
            [fold(match.text) in right[word] for match in matches]
            for word, matches in zip(asked, answers, strict=True)
        ]
    )
    return WordAnswers(len(right), hits, np.array([matches[0].confidence for matches in answers]))


def figures(answered: Sequence[WordAnswers]) -> dict[str, float]:
    """P@k and calibration over the answers in one or more directions."""
    hits = np.concatenate([part.hits for part in answered])
    confidences = np.concatenate([part.confidences for part in answered])
    words = sum(part.words for part in answered)
    means = {f"p{k}": round(100 * float(hits[:, :k].any(axis=1).mean()), 1) for k in KS}
    sure = confidences > SURE_CONFIDENCE
    return {
        **means,
        "of_all": round(100 * float(hits[:, 0].sum()) / words, 1),
        "words": words,
        "asked": len(hits),
        "confidence": round(100 * float(confidences.mean()), 1),
        "off": round(100 * calibration_error(confidences, hits[:, 0]), 1),
        "off_by_chance": round(100 * error_by_chance(confidences), 1),
        "sure": round(100 * float(sure.mean()), 1),
        "right": round(100 * float(hits[sure, 0].mean()), 1) if sure.any() else 0.0,
    }


def _reversed(dictionary: Dictionary) -> Dictionary:
    entries = [(translation, word) for word, translation in dictionary.entries]
    return Dictionary(dictionary.target, dictionary.source, entries)


def error_by_chance(confidences: NDArray[np.float64]) -> float:
    """The mean calibration error of (n,) confidences if each answer is right as often as its own says."""
    generator = np.random.default_rng(0)
    outcomes = generator.random((CHANCE_DRAWS, len(confidences))) < confidences
    return float(np.mean([calibration_error(confidences, right) for right in outcomes]))


if __name__ == "__main__":
    main()
