"""Explanation: the parts of an answer's score, and whether other translation paths support the answer.

For a question x and an answer y the score is CSLS, 2 cos(x, y) - r(x) - r(y) (hubness.py). An answer is more
often right if translating it back leads to the question, and if the best answers in third languages lead to
it too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import Vectors
from index.search.ranking import select
from index.storage.index_manifest import Scoring
from index.vectors.neighbourhoods import csls_scores, neighbourhood_means
from index.vectors.vector_index import CANDIDATE_COUNT, Rows, VectorIndex

AGREEING_PLACES = 10  # a third language supports an answer only if it is among its own first ten


class Searched(Protocol):
    """What SentenceIndex and WordIndex have in common: unit vectors with IDs and neighbourhood means."""

    vectors: VectorIndex
    scoring: Scoring

    def means_from(self, source: str) -> NDArray[np.float32]:
        """(count,) each row's mean cosine to its nearest neighbours in `source`."""
        ...

    def rows(self, ids: Sequence[str]) -> list[int | None]:
        """The row of each ID; None for an ID that does not exist."""
        ...

    def text(self, row: int) -> str:
        """The text of a row."""
        ...

    def id(self, row: int) -> str:
        """The ID of a row."""
        ...


@dataclass(frozen=True)
class Return:
    """The best translation of an answer back into the question's language, and its cosine to the question."""

    text: str
    id: str
    cosine: float


@dataclass(frozen=True)
class Detour:
    """The path from the question to the answer through the best answer in a third language.

    `question` and `answer` are that sentence's cosines to the two; `place`, from 1, is where the answer comes
    among its translations, None if not among the first AGREEING_PLACES.
    """

    language: str
    text: str
    id: str
    question: float
    answer: float
    place: int | None


@dataclass(frozen=True)
class Explanation:
    """The parts of one answer's score, and the paths that support or contradict it.

    score = 2 `cosine` - `question_mean` - `answer_mean`; the means are those of the cosines to the
    CSLS_NEIGHBOURS nearest in the other language. `margin`: the score minus that of the best other answer.
    `candidates`: the number of answers to choose from.
    """

    cosine: float
    question_mean: float
    answer_mean: float
    score: float
    margin: float
    candidates: int
    back: Return | None
    via: tuple[Detour, ...]


@dataclass(frozen=True)
class Ranking:
    """The candidates of one search, best first: rows, cosines and CSLS scores, (m,) each.

    `mean` is the mean cosine of the question to its neighbours.
    """

    rows: Rows
    cosines: NDArray[np.float32]
    scores: NDArray[np.float32]
    mean: float


@dataclass(frozen=True)
class Stop:
    """The best answer in a third language: the intermediate sentence of a Detour."""

    language: str
    text: str
    id: str
    cosine: float
    vector: NDArray[np.float32]


def explain(
    indexes: Mapping[str, Searched], query: Vectors, source: str, answers: Mapping[str, Sequence[str]]
) -> dict[str, list[Explanation]]:
    """Explain each of the `answers`, target -> IDs, to a question in `source`, a unit vector (1, d).

    Raises ValueError for an ID that does not exist.
    """
    targets = {target: _rows(indexes[target], ids) for target, ids in answers.items()}
    explained = [target for target, rows in targets.items() if rows]
    # If there is only one target, it is not a third language.
    visited = [code for code in indexes if explained and code != source and [code] != explained]
    rankings = {
        language: _ranked(indexes[language], query, [source])[0] for language in {*explained, *visited}
    }
    stops = [
        _stop(language, indexes[language], rankings[language])
        for language in visited
        if len(rankings[language].rows)
    ]
    vectors = {target: indexes[target].vectors.reconstruct(targets[target]) for target in explained}
    backs = _backs(indexes.get(source), query[0], vectors)
    return {
        target: _explain(
            indexes[target],
            source,
            rankings[target],
            targets[target],
            vectors[target] @ query[0],
            backs[target],
            _via(
                indexes[target],
                [stop for stop in stops if stop.language != target],
                targets[target],
                vectors[target],
            ),
        )
        if target in vectors
        else []
        for target in answers
    }


def _explain(
    index: Searched,
    source: str,
    ranking: Ranking,
    rows: Sequence[int],
    cosines: NDArray[np.float32],
    backs: Sequence[Return | None],
    vias: Sequence[tuple[Detour, ...]],
) -> list[Explanation]:
    means = index.means_from(source)[rows]
    scores = csls_scores(cosines, np.full_like(cosines, ranking.mean), means)
    two_best = list(zip(ranking.rows[:2].tolist(), ranking.scores[:2].tolist(), strict=True))
    columns = (rows, cosines.tolist(), means.tolist(), scores.tolist(), backs, vias)
    return [
        Explanation(
            cosine=cosine,
            question_mean=ranking.mean,
            answer_mean=mean,
            score=score,
            margin=_margin(row, score, two_best),
            candidates=len(index.vectors),
            back=back,
            via=via,
        )
        for row, cosine, mean, score, back, via in zip(*columns, strict=True)
    ]


def _margin(row: int, score: float, two_best: Sequence[tuple[int, float]]) -> float:
    other_scores = [other_score for other_row, other_score in two_best if other_row != row]
    return score - other_scores[0] if other_scores else 0.0


def _backs(
    index: Searched | None, query: NDArray[np.float32], vectors: Mapping[str, Vectors]
) -> dict[str, list[Return | None]]:
    """Translate each answer back: by target, its best answer in the language of the question.

    `vectors`: by target, those of the answers, (n, d). None if that language has no sentences.
    """
    if index is None or not vectors or not len(index.vectors):
        return {target: [None] * len(answers) for target, answers in vectors.items()}
    languages = [target for target, answers in vectors.items() for _ in answers]
    rows = [
        int(ranking.rows[0]) for ranking in _ranked(index, np.concatenate(list(vectors.values())), languages)
    ]
    cosines = (index.vectors.reconstruct(rows) @ query).tolist()
    backs: dict[str, list[Return | None]] = {target: [] for target in vectors}
    for language, row, cosine in zip(languages, rows, cosines, strict=True):
        backs[language].append(Return(index.text(row), index.id(row), cosine))
    return backs


def _stop(language: str, index: Searched, ranking: Ranking) -> Stop:
    row = int(ranking.rows[0])
    (vector,) = index.vectors.reconstruct([row])
    return Stop(language, index.text(row), index.id(row), float(ranking.cosines[0]), vector)


def _via(
    index: Searched, stops: Sequence[Stop], rows: Sequence[int], vectors: Vectors
) -> list[tuple[Detour, ...]]:
    """The detours through each stop to each answer in the language of `index`, given by row and vector."""
    if not stops:
        return [()] * len(rows)
    questions = np.stack([stop.vector for stop in stops])
    places_by_stop = [
        {row: place for place, row in enumerate(ranking.rows[:AGREEING_PLACES].tolist(), 1)}
        for ranking in _ranked(index, questions, [stop.language for stop in stops])
    ]
    return [
        tuple(
            Detour(stop.language, stop.text, stop.id, stop.cosine, cosine, places.get(row))
            for stop, cosine, places in zip(stops, cosines, places_by_stop, strict=True)
        )
        for row, cosines in zip(rows, (vectors @ questions.T).tolist(), strict=True)
    ]


def _ranked(index: Searched, queries: Vectors, sources: Sequence[str]) -> list[Ranking]:
    """Rank the candidates for (n, d) unit queries; `sources` (n,) are the queries' languages."""
    cosines, rows = index.vectors.search(queries, CANDIDATE_COUNT)
    row_means = np.stack([index.means_from(source)[row] for source, row in zip(sources, rows, strict=True)])
    query_means = neighbourhood_means(cosines).tolist()
    cosines, rows, scores, _ = select(cosines, rows, row_means, rows.shape[1], index.scoring)
    return [Ranking(*columns) for columns in zip(rows, cosines, scores, query_means, strict=True)]


def _rows(index: Searched, ids: Sequence[str]) -> list[int]:
    rows = []
    for answer_id, row in zip(ids, index.rows(ids), strict=True):
        if row is None:
            raise ValueError(f"{answer_id!r} is the ID of no answer")
        rows.append(row)
    return rows
