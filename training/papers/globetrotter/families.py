"""Translation between every two of many languages, by family (Globetrotter, figures 7 and 9)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.scores import PairScore, Table, score_pair, table_of_pairs
from evaluation.reports.document import Block, Grid, Heading, text
from evaluation.reports.report import matrix_pictures, pair_matrix
from evaluation.suites.sets import languages_in, read_captions, read_split
from index.errors import DataError
from index.languages import language
from training.papers.frozen import Frozen

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
        values = pair_matrix(self.table, MEASURE)
        means = np.nanmean(values - values.T, axis=1)
        return dict(zip(self.table.languages, means.tolist(), strict=True))


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


def figures(measured: Sequence[Families]) -> dict[str, dict[str, float]]:
    """Picture set -> its figures."""
    return {
        one.table.name: {
            "languages": float(len(one.table.languages)),
            "R@1": _mean(one.table.pairs),
            "within a family": one.within,
            "between families": one.between,
            "chance": one.chance,
        }
        for one in measured
    }


def blocks(name: str, measured: Sequence[Families]) -> list[Block]:
    """The contents of report.md."""
    parts: list[Block] = [
        text(
            f"`{name}`: R@1 by CSLS in per cent, from the language of the row to that of the column, on the",
            "test pictures that have a text in both; pairs with fewer than",
            f"{FEWEST_PICTURES} of these are left out.",
        )
    ]
    for one in measured:
        order = sorted(one.asymmetry, key=lambda code: -one.asymmetry[code])
        codes = one.table.languages
        parts += [
            Heading(2, one.table.name),
            text(
                f"{len(codes)} languages, {len(one.table.pairs)} pairs; the set or the encoder lacks",
                f"{', '.join(one.missing) or 'none'}.",
            ),
            Grid(
                ["", "R@1"],
                [
                    ["all pairs", f"{_mean(one.table.pairs):.1f}"],
                    ["within a family", f"{one.within:.1f}"],
                    ["between families", f"{one.between:.1f}"],
                    ["chance", f"{one.chance:.1f}"],
                ],
            ),
            *matrix_pictures(one.table.name, "R@1", codes, pair_matrix(one.table, MEASURE)),
            Grid(
                ["easier from than to", "A − Aᵀ"],
                [[code, f"{one.asymmetry[code]:+.1f}"] for code in (*order[:EXTREMES], *order[-EXTREMES:])],
            ),
        ]
    return parts
