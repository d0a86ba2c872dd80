"""Cross-lingual consistency at query time (SMALR, Burns et al. 2020, section 3.4).

A question is asked together with its translations into other languages, and the answers are ordered by the
mean of the scores over all these languages (CLC-A). The translations are either given, or taken from the
index: the nearest sentence in each third language.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import Vectors, unit
from index.search.ranking import Match
from index.search.sentence_index import SentenceIndex

Scores = NDArray[np.floating]


def mean_scores(cosines: Mapping[str, Scores]) -> Scores:
    """Average scores over languages (CLC-A); all arrays have the same shape."""
    means: Scores = np.mean(list(cosines.values()), axis=0)
    return means


def own_translations(
    indexes: Mapping[str, SentenceIndex], vectors: Vectors, source: str, target: str
) -> dict[str, Vectors]:
    """Translate questions into every third language of the index.

    `vectors` (n, d): unit rows of questions in `source`. Returns, by language, the questions themselves and
    the vector of the nearest sentence to each of them, (n, d).
    """
    translations = {source: vectors}
    for language, index in indexes.items():
        if language not in (source, target) and len(index) and len(vectors):
            answers = index.search(vectors, source, 1)
            translations[language] = index.vectors.reconstruct([answer.row for (answer,) in answers])
    return translations


def mean_queries(translations: Mapping[str, Vectors]) -> Vectors:
    """Combine each question with its translations into one unit vector, (n, d).

    Ordering by the cosine with this vector is the same as ordering by CLC-A.
    """
    return unit(np.sum(list(translations.values()), axis=0))


def consistent(
    indexes: Mapping[str, SentenceIndex],
    questions: Mapping[str, Vectors],
    source: str,
    target: str,
    k: int,
) -> list[list[Match]]:
    """Find the k best answers in `target` to each question, ordered by CLC-A.

    `questions` maps languages to (n, d) unit rows: row i is question i, which is in `source`, or its
    translation. Scores and confidences of the answers are those for the question alone.
    """
    index = indexes[target]
    _, rows = index.vectors.search(mean_queries(questions), k)
    return [
        index.assess(question[None], answers.tolist(), source)
        for question, answers in zip(questions[source], rows, strict=True)
    ]
