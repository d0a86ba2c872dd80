"""Translation between every two of many languages, by family (Globetrotter, figures 7 and 9)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.scores import PairScore, Table, score_pair, table_of_pairs
from evaluation.reports.document import Block, Heading, text
from evaluation.suites.sets import languages_in, read_captions, read_split
from index.errors import DataError
from index.languages import language
from training.papers.frozen import Frozen
from training.papers.report import ExperimentReport, grid

MEASURE = "csls_r1"
FEWEST_PICTURES = 20  # that two languages share: from fewer, a figure is meaningless
EXTREMES = 5  # languages listed as easiest to translate from and to

# The languages of the paper's data (3.1, footnote 1).
PAPER_LANGUAGES = (
    *("af", "sq", "am", "ar", "az", "bn", "bs", "bg", "zh", "hr", "cs", "da", "prs", "nl", "en", "et"),
    *("fi", "fr", "ka", "de", "el", "ha", "he", "hi", "hu", "id", "it", "ja", "ko", "lv", "ms", "no"),
    *("fa", "ps", "pl", "pt", "ro", "ru", "sr", "sk", "sl", "so", "es", "sw", "sv", "fil", "ta", "th"),
    *("tr", "uk", "ur", "vi"),
)


@dataclass(frozen=True)
class Families:
    """R@1 by CSLS between the languages of a picture set, and how many languages it lacks.

    within, between: the mean over pairs of one family, and of two. chance: what drawing would reach, the mean
    over pairs.
    """

    table: Table
    missing: tuple[str, ...]
    within: float
    between: float
    chance: float

    @property
    def asymmetry(self) -> Mapping[str, float]:
        """Language -> how much better one translates from it than to it, the mean of its row of A - Aᵀ."""
        scores = {(pair.source, pair.target): pair.measures[MEASURE] for pair in self.table.pairs}
        gains: dict[str, list[float]] = {code: [] for code in self.table.languages}
        for (source, target), score in scores.items():
            if (target, source) in scores:
                gains[source].append(score - scores[target, source])
        return {code: float(np.mean(values)) for code, values in gains.items()}


def measure_families(encoder: Frozen, folder: Path, codes: Sequence[str]) -> Families:
    """Measure those of `codes` that `encoder` knows on the test pictures of a picture set.

    Each pair is measured on the pictures that have a text in both; those with equal texts count once.
    DataError if no two languages share FEWEST_PICTURES.
    """
    images = read_split(folder / "splits.tsv", "test")
    present = set(languages_in(folder / "captions", ".tsv"))
    texts: dict[str, dict[str, str]] = {}
    for code in (code for code in codes if code in present and code in encoder.languages):
        rows = reversed(read_captions(folder / "captions" / f"{code}.tsv"))
        texts[code] = {row.image: row.text for row in rows if row.image in images}
    vectors = {code: _embedded(encoder, lines) for code, lines in texts.items() if lines}
    pairs = [
        score
        for source, target in permutations(vectors, 2)
        if (score := _scored(source, target, texts, vectors)) is not None
    ]
    if not pairs:
        raise DataError(f"{folder}: no two of the languages share {FEWEST_PICTURES} test pictures")
    table = table_of_pairs(folder.name, "", pairs)
    same = [_family(pair.source) == _family(pair.target) for pair in pairs]
    return Families(
        table,
        tuple(code for code in codes if code not in table.languages),
        _mean([pair for pair, is_same in zip(pairs, same, strict=True) if is_same]),
        _mean([pair for pair, is_same in zip(pairs, same, strict=True) if not is_same]),
        float(np.mean([100 / pair.n for pair in pairs])),
    )


def _embedded(encoder: Frozen, lines: Mapping[str, str]) -> dict[str, NDArray[np.float32]]:
    return dict(zip(lines, encoder.encode(list(lines.values())), strict=True))


def _scored(
    source: str,
    target: str,
    texts: Mapping[str, Mapping[str, str]],
    vectors: Mapping[str, Mapping[str, NDArray[np.float32]]],
) -> PairScore | None:
    """Score a pair on the pictures that both have; None if these are too few."""
    by_texts: dict[str, dict[str, str]] = {code: {} for code in (source, target)}
    for image in texts[source].keys() & texts[target].keys():
        first, second = texts[source][image], texts[target][image]
        if first not in by_texts[source] and second not in by_texts[target]:
            by_texts[source][first] = by_texts[target][second] = image
    shared = sorted(by_texts[source].values())
    if len(shared) < FEWEST_PICTURES:
        return None
    rows = {code: np.stack([vectors[code][image] for image in shared]) for code in (source, target)}
    return score_pair(source, target, rows)


def _family(code: str) -> str:
    return language(code).family


def _mean(pairs: Sequence[PairScore]) -> float:
    return float(np.mean([pair.measures[MEASURE] for pair in pairs])) if pairs else float("nan")


def report(encoder: Frozen, data: Path, sets: Sequence[str], codes: Sequence[str]) -> ExperimentReport:
    """Measure picture sets of the data folder and describe what came out."""
    measured = [measure_families(encoder, data / name, codes) for name in sets]
    note = (
        f"{encoder.name}: R@1 by CSLS in per cent, from the language of the row to that of the column, on "
        f"the test pictures that have a text in both; pairs with fewer than {FEWEST_PICTURES} of these are "
        "left out."
    )
    figures: dict[str, dict[str, float]] = {}
    parts: list[Block] = []
    for one in measured:
        languages, name = one.table.languages, one.table.name
        figures[name] = {
            "languages": float(len(languages)),
            "R@1": _mean(one.table.pairs),
            "within a family": one.within,
            "between families": one.between,
            "chance": one.chance,
        }
        order = sorted(languages, key=lambda code: _family(code))
        scores = {(pair.source, pair.target): pair.measures[MEASURE] for pair in one.table.pairs}
        matrix = {
            source: {target: scores[source, target] for target in order if (source, target) in scores}
            for source in order
        }
        easiest = sorted(one.asymmetry, key=lambda code: -one.asymmetry[code])
        extremes = (*easiest[:EXTREMES], *easiest[-EXTREMES:])
        asymmetries = {code: {"A − Aᵀ": one.asymmetry[code]} for code in extremes}
        parts += [
            Heading(2, name),
            text(f"The set or the encoder lacks {', '.join(one.missing) or 'none'}."),
            grid("from", matrix),
            grid("easier from than to", asymmetries),
        ]
    return ExperimentReport("Families", note, figures, {"tables": [asdict(one) for one in measured]}, parts)
