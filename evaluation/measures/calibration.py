"""Expected calibration error of confidences, for each pair of languages."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.scores import PairScore, Table, table_of_pairs
from index.build.encoder_calibration import top_answers
from index.confidence.models import Model, calibration_error

ECE = "ece"
Vectors = NDArray[np.floating]


def with_calibration(
    table: Table,
    vectors: Mapping[str, Vectors],
    calibration: Model,
) -> Table:
    """Add the expected calibration error, in per cent, to each pair of a table.

    Half of the questions have their right answer removed. The table is returned unchanged without a fitted
    calibration, or with fewer than two candidates.
    """
    if not calibration.n or table.n < 2:
        return table
    pairs = [_calibrated(pair, vectors, calibration) for pair in table.pairs]
    return table_of_pairs(table.name, table.note, pairs)


def _calibrated(pair: PairScore, vectors: Mapping[str, Vectors], calibration: Model) -> PairScore:
    cosines = vectors[pair.source] @ vectors[pair.target].T
    answers = [top_answers(cosines.copy(), answerable) for answerable in (True, False)]
    chances = np.concatenate([calibration.probability(columns) for columns, _ in answers])
    error = 100 * calibration_error(chances, np.concatenate([right for _, right in answers]))
    return replace(pair, measures={**pair.measures, ECE: error})
