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
from index.search.ranking import Match
from index.search.vector_index import CANDIDATES, VectorIndex

NEAR = 10  # an answer further down a third language's answers is not agreed with


class Searched(Protocol):
    """What sentences and words have in common: unit vectors, each with an ID and a neighbourhood mean."""

    vectors: VectorIndex

    def search(self, queries: Vectors, source: str, k: int = 1) -> list[list[Match]]: ...

    def row(self, answer_id: str) -> int | None:
        """The row of an ID, None where there is none."""
        ...

    def means_from(self, source: str) -> NDArray[np.float32]:
        """(count,) each row's mean cosine to its nearest neighbours in `source`."""
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
class Stop:
    """The best answer in a third language, by which all answers in a target are checked."""

    language: str
    match: Match
    vector: NDArray[np.float32]


def explain(
    indexes: Mapping[str, Searched], query: Vectors, source: str, answers: Mapping[str, Sequence[str]]
) -> dict[str, list[Explanation]]:
    """Why each of `answers`, target -> IDs, answers a question in `source`, a unit vector (1, d).

    ValueError for an ID that is not there.
    """
    stops = [
        Stop(language, match, _vector(index, match))
        for language, index in indexes.items()
        if language != source and {language} != answers.keys() and any(answers.values())
        for match in index.search(query, source, 1)[0]
    ]
    return {target: _explain(indexes, query, source, target, ids, stops) for target, ids in answers.items()}


def _explain(
    indexes: Mapping[str, Searched],
    query: Vectors,
    source: str,
    target: str,
    answers: Sequence[str],
    stops: Sequence[Stop],
) -> list[Explanation]:
    index = indexes[target]
    rows = [_row(index, answer_id) for answer_id in answers]
    if not rows:
        return []
    vectors = index.vectors.reconstruct(rows)
    cosines = vectors @ query[0]
    question = neighbourhood_means(index.vectors.search(query, CANDIDATES)[0])
    means = index.means_from(source)[rows]
    backs = _backs(indexes.get(source), query, vectors, target)
    vias = [_via(index, stop, answers, vectors) for stop in stops if stop.language != target]
    best = index.search(query, source, 2)[0]
    scores = csls_scores(cosines, question, means)
    return [
        Explanation(
            cosine=float(cosines[place]),
            question_mean=float(question[0]),
            answer_mean=float(means[place]),
            score=float(scores[place]),
            margin=_margin(answer_id, float(scores[place]), best),
            candidates=len(index.vectors),
            back=backs[place],
            via=tuple(detours[place] for detours in vias),
        )
        for place, answer_id in enumerate(answers)
    ]


def _margin(answer_id: str, score: float, best: Sequence[Match]) -> float:
    others = [match.score for match in best if match.id != answer_id]
    return score - others[0] if others else 0.0


def _backs(index: Searched | None, query: Vectors, vectors: Vectors, target: str) -> list[Return | None]:
    """Each answer's own best answer in the language of the question, None where there is none."""
    if index is None:
        return [None] * len(vectors)
    return [
        Return(matches[0].text, matches[0].id, float(_vector(index, matches[0]) @ query[0]))
        if matches
        else None
        for matches in index.search(vectors, target, 1)
    ]


def _via(index: Searched, stop: Stop, answers: Sequence[str], vectors: Vectors) -> list[Detour]:
    """For each answer in the language of `index` the detour through that stop."""
    onward = index.search(stop.vector[None], stop.language, NEAR)[0]
    places = {match.id: place for place, match in enumerate(onward, 1)}
    return [
        Detour(
            stop.language,
            stop.match.text,
            stop.match.id,
            stop.match.cosine,
            float(vector @ stop.vector),
            places.get(answer),
        )
        for answer, vector in zip(answers, vectors, strict=True)
    ]


def _vector(index: Searched, match: Match) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = index.vectors.reconstruct([_row(index, match.id)])[0]
    return vector


def _row(index: Searched, answer_id: str) -> int:
    row = index.row(answer_id)
    if row is None:
        raise ValueError(f"{answer_id!r} is the ID of no answer")
    return row
