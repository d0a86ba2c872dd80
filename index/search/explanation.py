"""Why an answer: the parts of its score, and whether going back, or through a third language, leads to it.

For a question x and an answer y the score is CSLS, 2 cos(x, y) - r(x) - r(y) (hubness.py). Its neighbours say
how far to trust it: an answer that leads back to the question, and that other languages lead to as well, is
right more often than one that only a single pair of vectors speaks for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import Vectors
from index.search.hubness import csls_scores, neighbourhood_means
from index.search.ranking import select
from index.search.vector_index import CANDIDATES, Rows, VectorIndex
from index.storage.index_manifest import Scoring

NEAR = 10  # an answer further down a third language's answers is not agreed with


class Searched(Protocol):
    """What sentences and words have in common: unit vectors, each with an ID and a neighbourhood mean."""

    vectors: VectorIndex
    scoring: Scoring

    def means_from(self, source: str) -> NDArray[np.float32]:
        """(count,) each row's mean cosine to its nearest neighbours in `source`."""
        ...

    def rows(self, ids: Sequence[str]) -> list[int | None]:
        """The row of each ID, None where there is none."""
        ...

    def text(self, row: int) -> str:
        """The text of a row."""
        ...

    def id(self, row: int) -> str:
        """The ID of a row."""
        ...


@dataclass(frozen=True)
class Return:
    """The answer translated to the question's language; `cosine` is the likeness of that to the question."""

    text: str
    id: str
    cosine: float


@dataclass(frozen=True)
class Detour:
    """The best answer in a third language and where it leads.

    `question` and `answer` are its cosines to those; `place` is that of the answer among its own answers,
    from 1, None where it is not among the first NEAR.
    """

    language: str
    text: str
    id: str
    question: float
    answer: float
    place: int | None


@dataclass(frozen=True)
class Explanation:
    """The parts of one answer's score, and who agrees.

    score = 2 `cosine` - `question_mean` - `answer_mean`; a mean is that of the cosines to the NEIGHBOURS
    nearest in the other language. `margin`: how far the score is above the best other answer's, negative
    where it is below. `candidates`: how many answers there were to choose from.
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
    """The candidates of one search, best first: their rows, cosines and CSLS, (m,) each, and the mean cosine
    of the question to its neighbours."""

    rows: Rows
    cosines: NDArray[np.float32]
    scores: NDArray[np.float32]
    mean: float


@dataclass(frozen=True)
class Stop:
    """The best answer in a third language, by which all answers in a target are checked."""

    language: str
    text: str
    id: str
    cosine: float
    vector: NDArray[np.float32]


def explain(
    indexes: Mapping[str, Searched], query: Vectors, source: str, answers: Mapping[str, Sequence[str]]
) -> dict[str, list[Explanation]]:
    """Why each of `answers`, target -> IDs, answers a question in `source`, a unit vector (1, d).

    ValueError for an ID that is not there.
    """
    targets = {target: _rows(indexes[target], ids) for target, ids in answers.items()}
    asked = [target for target, rows in targets.items() if rows]
    # A single target is no third language of its own answers.
    visited = [language for language in indexes if asked and language != source and [language] != asked]
    rankings = {language: _ranked(indexes[language], query, [source])[0] for language in {*asked, *visited}}
    stops = [
        _stop(language, indexes[language], rankings[language])
        for language in visited
        if len(rankings[language].rows)
    ]
    vectors = {target: indexes[target].vectors.reconstruct(targets[target]) for target in asked}
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
    best = list(zip(ranking.rows[:2].tolist(), ranking.scores[:2].tolist(), strict=True))
    columns = (rows, cosines.tolist(), means.tolist(), scores.tolist(), backs, vias)
    return [
        Explanation(
            cosine=cosine,
            question_mean=ranking.mean,
            answer_mean=mean,
            score=score,
            margin=_margin(row, score, best),
            candidates=len(index.vectors),
            back=back,
            via=via,
        )
        for row, cosine, mean, score, back, via in zip(*columns, strict=True)
    ]


def _margin(row: int, score: float, best: Sequence[tuple[int, float]]) -> float:
    others = [value for other, value in best if other != row]
    return score - others[0] if others else 0.0


def _backs(
    index: Searched | None, query: NDArray[np.float32], vectors: Mapping[str, Vectors]
) -> dict[str, list[Return | None]]:
    """For each target each answer's own best answer in the language of the question, None where there is
    none; `vectors` are the answers'."""
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
    """For each answer in the language of `index`, a row with its vector, the detour through each stop."""
    if not stops:
        return [()] * len(rows)
    questions = np.stack([stop.vector for stop in stops])
    onward = [
        {row: place for place, row in enumerate(ranking.rows[:NEAR].tolist(), 1)}
        for ranking in _ranked(index, questions, [stop.language for stop in stops])
    ]
    return [
        tuple(
            Detour(stop.language, stop.text, stop.id, stop.cosine, cosine, places.get(row))
            for stop, cosine, places in zip(stops, cosines, onward, strict=True)
        )
        for row, cosines in zip(rows, (vectors @ questions.T).tolist(), strict=True)
    ]


def _ranked(index: Searched, queries: Vectors, sources: Sequence[str]) -> list[Ranking]:
    """The candidates for (n, d) unit queries, each in the language that `sources` (n,) says."""
    cosines, rows = index.vectors.search(queries, CANDIDATES)
    seen = np.stack([index.means_from(source)[own] for source, own in zip(sources, rows, strict=True)])
    means = neighbourhood_means(cosines)
    ordered = zip(*select(cosines, rows, seen, rows.shape[1], index.scoring)[:3], means.tolist(), strict=True)
    return [Ranking(own, near, scores, mean) for near, own, scores, mean in ordered]


def _rows(index: Searched, ids: Sequence[str]) -> list[int]:
    rows = []
    for answer_id, row in zip(ids, index.rows(ids), strict=True):
        if row is None:
            raise ValueError(f"{answer_id!r} is the ID of no answer")
        rows.append(row)
    return rows
