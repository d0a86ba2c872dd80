"""Cross-lingual consistency at query time (SMALR, Burns et al. 2020, 3.4): a question's translations into
other languages are asked as well, and what all of them find counts.

The translations may be given, or be our own: the nearest sentence of each other language's index. What
orders the answers is the mean of the scores of all languages (CLC-A).
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import Vectors, unit
from index.search.ranking import Match
from index.search.sentence_index import SentenceIndex

Scores = NDArray[np.floating]


def mean_scores(cosines: Mapping[str, Scores]) -> Scores:
    """CLC-A: the mean over the languages that there are."""
    means: Scores = np.mean(list(cosines.values()), axis=0)
    return means


def own_translations(
    indexes: Mapping[str, SentenceIndex], vectors: Vectors, source: str, target: str
) -> dict[str, Vectors]:
    """Questions in `source`, (n, d) unit rows -> language -> (n, d): themselves, and the vector of what each
    third language's index answers to each."""
    translations = {source: vectors}
    for language, index in indexes.items():
        if language not in (source, target) and len(index) and len(vectors):
            answers = index.search(vectors, source, 1)
            translations[language] = index.vectors.reconstruct([answer.row for (answer,) in answers])
    return translations


def mean_queries(translations: Mapping[str, Vectors]) -> Vectors:
    """One question for all its translations, (n, d) unit rows: cosines to it order as CLC-A does."""
    return unit(np.sum(list(translations.values()), axis=0))


def consistent(
    indexes: Mapping[str, SentenceIndex],
    questions: Mapping[str, Vectors],
    source: str,
    target: str,
    k: int,
) -> list[list[Match]]:
    """Each question's k answers in `target`, in the order of CLC-A.

    `questions`: language -> (n, d) unit rows, row i the question i, in `source`, or a translation of it. The
    answers' scores and confidences are the ones that the question alone gives them.
    """
    index = indexes[target]
    _, rows = index.vectors.search(mean_queries(questions), k)
    return [
        index.assess(question[None], answers.tolist(), source)
        for question, answers in zip(questions[source], rows, strict=True)
    ]
