"""Candidates: one table of possible answers to all questions of a batch, as columns of arrays.

The nearest vectors are ranked by CSLS, which corrects cosines for hubs (vectors/neighbourhoods.py), and the
best few of each question become rows of the table, question by question. Later stages make tables with more
columns of it, by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.arrays import Numbers, Vectors
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, csls_scores, neighbourhood_means
from index.vectors.vector_index import VectorIndex

# Answers with the highest scores, which are then ordered by confidence (docs/decisions/0084).
ANSWERS_CONSIDERED = 5
SUPPORTED_CONSIDERED = 20  # of those that are ranked by what is aligned with them
LEFT_OUT = -1.0  # the cosine of a neighbour that may not be an answer


@dataclass(frozen=True)
class Candidates:
    """Possible answers to `count` questions; all `columns` have a value for each, question by question.

    From the start there are `question` and `row`, which say what is a candidate for what, `cosine`, `score`
    (CSLS) and `gap`, to the best other candidate of the question. `question_means` (count,): the mean cosine
    of each question to its nearest neighbours.
    """

    count: int
    columns: Mapping[str, NDArray[Any]]
    question_means: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.columns["question"])

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def with_columns(self, **columns: NDArray[Any]) -> "Candidates":
        """The same candidates with more columns, or with others of these names."""
        return replace(self, columns={**self.columns, **columns})

    def take(self, places: NDArray[np.integer] | NDArray[np.bool_]) -> "Candidates":
        """The candidates at some places, in that order."""
        return replace(self, columns={name: values[places] for name, values in self.columns.items()})

    def by_question(self) -> list[list[int]]:
        """The places of each question's candidates, in their order."""
        ends = np.cumsum(np.bincount(self["question"], minlength=self.count)).tolist()
        return [list(range(begin, end)) for begin, end in zip([0, *ends], ends, strict=False)]


def ranked(cosines: Vectors, rows: Numbers, means: NDArray[np.float32], most: int) -> Candidates:
    """Make a table of the `most` neighbours of each question with the highest CSLS scores, best first.

    `cosines`, `rows`, `means` (n, m): the neighbours, best first, those LEFT_OUT last; and the mean cosine of
    each to its nearest neighbours in the language of the questions.
    """
    question_means = neighbourhood_means(cosines[:, :CSLS_NEIGHBOURS])
    scores = csls_scores(cosines, question_means[:, None], means)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :most]
    chosen = np.arange(len(order))[:, None], order
    kept = cosines[chosen].ravel() > LEFT_OUT
    questions = np.repeat(np.arange(len(order)), order.shape[1])[kept]
    columns: dict[str, NDArray[Any]] = {
        "question": questions,
        "row": rows[chosen].ravel()[kept],
        "cosine": cosines[chosen].ravel()[kept],
        "score": scores[chosen].ravel()[kept],
    }
    columns["gap"] = gaps(questions, columns["score"])
    return Candidates(len(cosines), columns, question_means)


def with_rows(
    table: Candidates,
    added: Mapping[str, NDArray[Any]],
    queries: Vectors,
    vectors: VectorIndex,
    means: NDArray[np.float32],
) -> Candidates:
    """The candidates and those that are `added`, by `question` and `row`; what these lack is 0.

    `queries` (n, d): the questions' unit vectors; `means` (rows of the index,). A question's candidates are
    again ordered by score.
    """
    questions, rows = added["question"], added["row"]
    cosines = np.einsum("md,md->m", vectors.reconstruct(rows), queries[questions])
    scores = csls_scores(cosines, table.question_means[questions], means[rows])
    values, nothing = {**added, "cosine": cosines, "score": scores}, np.zeros(len(rows))
    columns = {
        name: np.concatenate([known, values.get(name, nothing)]) for name, known in table.columns.items()
    }
    order = np.lexsort((-columns["score"], columns["question"]))
    table = replace(table, columns=columns).take(order)
    return table.with_columns(gap=gaps(table["question"], table["score"]))


def gaps(questions: Numbers, scores: Vectors) -> Vectors:
    """How far each score is above the best other one of its question; 0 for an only one.

    Both (n,), question by question, a question's scores best first.
    """
    first = firsts(questions)
    begins = first.nonzero()[0]
    gaps: Vectors = scores - scores[begins][first.cumsum() - 1]
    followed = begins[~np.append(first, True)[begins + 1]]
    gaps[followed] = scores[followed] - scores[followed + 1]
    return gaps


def firsts(questions: Numbers) -> NDArray[np.bool_]:
    """(n,) whether each candidate is the first of its question; (n,) questions, one after the other."""
    first = np.ones(len(questions), bool)
    np.not_equal(questions[1:], questions[:-1], out=first[1:])
    return first


def limited(table: Candidates, counts: Sequence[int]) -> Candidates:
    """The first `counts[i]` candidates of question i."""
    first = firsts(table["question"])
    ranks = np.arange(len(table)) - first.nonzero()[0][first.cumsum() - 1]
    return table.take(ranks < np.asarray(counts, np.int64)[table["question"]])


def joined(tables: Sequence[Candidates]) -> Candidates:
    """One table of several, whose questions are numbered on; with the columns that all of them have."""
    begins = np.cumsum([0, *(table.count for table in tables)]).tolist()
    names = [name for name in tables[0].columns if all(name in table.columns for table in tables)]
    columns = {name: np.concatenate([table[name] for table in tables]) for name in names}
    columns["question"] = np.concatenate(
        [table["question"] + begin for table, begin in zip(tables, begins, strict=False)]
    )
    means = np.concatenate([table.question_means for table in tables])
    return Candidates(begins[-1], columns, means)
