"""How far a confidence is from the share of answers that are right, for each pair of languages."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.scores import PairScore, Table, table_of_pairs
from index.confidence.calibration import Calibration, calibration_error, features
from index.search.hubness import csls

ECE = "ece"
Vectors = NDArray[np.floating]


def top_answers(
    similarities: NDArray[np.floating], answerable: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(n, n) cosines, row i's right answer in column i -> features and rightness of each row's best by CSLS.

    Where it is not `answerable`, the right answer is taken away: `similarities` is written to.
    """
    rows = np.arange(len(similarities))
    if not answerable:
        similarities[rows, rows] = -1
    scores = csls(similarities)
    order = np.argsort(-scores, axis=1)[:, :2]
    best, second = order[:, 0], order[:, 1]
    score = scores[rows, best]
    answer_features = features(similarities[rows, best], score, score - scores[rows, second], len(rows))
    return answer_features, (best == rows) & answerable


def with_calibration(
    table: Table,
    vectors: Mapping[str, Vectors],
    calibration: Calibration | None,
    chosen: Sequence[str] = (),
) -> Table:
    """A table of pairs with their expected calibration errors, in per cent, as a further measure.

    Half of the answers are to questions whose right answer is not there. Nothing is added without a
    calibration, or where there are fewer than two candidates.
    """
    if calibration is None or table.n < 2:
        return table
    pairs = [_calibrated(pair, vectors, calibration) for pair in table.pairs]
    return replace(table_of_pairs(table.name, table.note, pairs, chosen), drawn=table.drawn)


def _calibrated(pair: PairScore, vectors: Mapping[str, Vectors], calibration: Calibration) -> PairScore:
    cosines = vectors[pair.source] @ vectors[pair.target].T
    answers = [top_answers(cosines.copy(), answerable) for answerable in (True, False)]
    values, right = (np.concatenate(parts) for parts in zip(*answers, strict=True))
    error = 100 * calibration_error(calibration.probability(values), right)
    return replace(pair, measures={**pair.measures, ECE: error})
