"""Questions whose right answers are known, asked of an index: its aligned sentences, or scenes added to it.

Each is asked twice, with its translations among the candidates and without them, so that a low confidence can
also mean "not in the index".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.build.probes import Probes
from index.confidence.calibration import COVERAGE, features
from index.encoder.vectors import Vectors
from index.search.ranking import ANSWERS_CONSIDERED, Coverage, Evidence, gaps, select
from index.search.sentence_index import SentenceIndex, length
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, neighbourhood_means
from index.vectors.vector_index import CANDIDATE_COUNT, Rows

TRIES_PER_QUESTION = 4  # sentences looked at for each question needed, since not all have a translation
LENGTHS_READ = 2000  # sentences of a language, to estimate its mean length
TOP_ANSWERS = 10  # answers among which `right_in_ten` looks
MAX_SCENE_COPIES = 4  # of one scene that an index may have
COPY_COSINE = 0.9999  # at least, of a scene to its copy

Pair = tuple[str, str]
Indexes = Mapping[str, SentenceIndex]


@dataclass(frozen=True)
class PairQuestions:
    """n questions of one language pair, first with their translations in the index, then again without.

    `values` (2 n, k, 10): the features of the k answers with the highest scores, best first. `right`
    (2 n, k): which of these answers are right. `right_in_ten` (2 n,): whether one of the ten with the highest
    scores is.
    """

    values: NDArray[np.float64]
    right: NDArray[np.bool_]
    right_in_ten: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.values) // 2

    @property
    def accuracy(self) -> float:
        """The share of questions whose first answer is right, if a right one is in the index."""
        return float(self.right[: len(self), 0].mean())


@dataclass(frozen=True)
class Candidates:
    """The rows nearest to n questions, (n, m), with their cosines, and which of them are `right`.

    `means` (rows,): the neighbourhood means of all rows. `length_of` gives the lengths of rows. `size`: the
    number of sentences to choose from.
    """

    cosines: Vectors
    rows: Rows
    right: NDArray[np.bool_]
    means: NDArray[np.float32]
    length_of: Callable[[Rows], NDArray[np.float64]]
    coverage: Coverage | None
    size: int

    def answer(self, question_lengths: NDArray[np.float64]) -> PairQuestions:
        """Choose the best answers, once among all candidates and once without the right ones.

        `question_lengths` (n,): log lengths minus their mean.
        """
        answerable = self._best_answers(np.zeros_like(self.right), question_lengths)
        unanswerable = self._best_answers(self.right, question_lengths)
        return PairQuestions(*(np.concatenate(parts) for parts in zip(answerable, unanswerable, strict=True)))

    def _best_answers(
        self, left_out: NDArray[np.bool_], question_lengths: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """The `values`, `right` and `right_in_ten` of PairQuestions for n questions."""
        # Candidates that are left out go to the end, as far from the question as possible.
        cosines = np.where(left_out, np.float32(-1), self.cosines)
        order = np.argsort(-cosines, axis=1, kind="stable")
        cosines, rows = (np.take_along_axis(part, order, 1) for part in (cosines, self.rows))
        cosines, rows, scores, _ = select(cosines, rows, self.means[rows], TOP_ANSWERS)
        right = np.stack(
            [
                np.isin(answers, candidates[hits])
                for answers, candidates, hits in zip(rows, self.rows, self.right, strict=True)
            ]
        )
        right &= cosines > -1
        # If there are fewer, the last is repeated, so that all pairs have the same number of answers.
        columns = np.minimum(np.arange(ANSWERS_CONSIDERED), rows.shape[1] - 1)
        margins = gaps(scores)[:, columns]
        cosines, rows, scores = cosines[:, columns], rows[:, columns], scores[:, columns]
        evidence = Evidence(question_lengths, self.length_of, self.coverage or _no_coverage)
        values = evidence.extend(features(cosines, scores, margins, self.size), rows)
        return values.reshape(*rows.shape, -1), right[:, columns], np.any(right, axis=1)


def _no_coverage(rows: Rows) -> NDArray[np.float64]:
    return np.zeros((*rows.shape, len(COVERAGE)))


def questions(
    source: SentenceIndex, target: SentenceIndex, count: int, random: np.random.Generator
) -> tuple[Rows, list[list[int]]]:
    """Draw up to `count` rows of `source` that have translations in `target`, and the rows of these."""
    if source.groups is None or target.groups is None:
        return np.zeros(0, np.int64), []
    tried = random.choice(
        len(source), min(len(source), TRIES_PER_QUESTION * count), replace=False, shuffle=False
    )
    rows: list[int] = []
    answers: list[list[int]] = []
    for row in tried.tolist():
        if len(rows) < count and (translations := target.groups.rows(source.groups.of(row))):
            rows.append(row)
            answers.append(translations)
    return np.array(rows, np.int64), answers


def ask(
    indexes: Indexes, pair: Pair, rows: Rows, answers: list[list[int]], lengths: Mapping[str, float]
) -> PairQuestions:
    """Ask sentences of the first language of `pair`, given by `rows`, in the second.

    `answers`: the rows of their translations. `lengths`: each language's `mean_length`.
    """
    source, target = (indexes[code] for code in pair)
    cosines, neighbours = target.vectors.search(source.vectors.reconstruct(rows), CANDIDATE_COUNT)
    candidates = Candidates(
        cosines,
        neighbours,
        right=np.stack([np.isin(row, right) for row, right in zip(neighbours, answers, strict=True)]),
        means=target.means_from(pair[0]),
        length_of=lambda rows: target.lengths(rows) - lengths[pair[1]],
        coverage=target.coverage([source.text(row) for row in rows.tolist()], pair[0]),
        size=len(target),
    )
    return candidates.answer(source.lengths(rows) - lengths[pair[0]])


def ask_scenes(
    indexes: Indexes, pair: Pair, asked: Probes, translations: Probes, lengths: Mapping[str, float]
) -> PairQuestions:
    """Ask scenes in the first language of `pair`, adding their translations to the sentences of the second.

    The first language need not be in the index. Copies of the translations in the index are left out.
    """
    target = indexes[pair[1]]
    cosines, neighbours = target.vectors.search(asked.vectors, CANDIDATE_COUNT)
    similarities, similar = target.vectors.search(translations.vectors, MAX_SCENE_COPIES)
    copies = np.where(similarities >= COPY_COSINE, similar, -1)
    is_copy = (neighbours[:, :, None] == copies[:, None]).any(axis=2)
    # The translation of question i is row len(target) + i.
    added = len(target) + np.arange(len(asked.texts))
    right = np.zeros((len(added), 1 + neighbours.shape[1]), bool)
    right[:, 0] = True
    added_lengths = _lengths(translations) - lengths[pair[1]]

    def length_of(rows: Rows) -> NDArray[np.float64]:
        indexed_lengths = target.lengths(np.minimum(rows, len(target) - 1)) - lengths[pair[1]]
        return np.where(rows < len(target), indexed_lengths, added_lengths[np.maximum(rows - len(target), 0)])

    def text_of(row: int) -> str:
        return target.text(row) if row < len(target) else translations.texts[row - len(target)]

    candidates = Candidates(
        np.column_stack(
            [(asked.vectors * translations.vectors).sum(1), np.where(is_copy, np.float32(-1), cosines)]
        ),
        np.column_stack([added, neighbours]),
        right,
        means=np.append(
            target.means_from(pair[0]), _means_around(indexes, pair, translations.vectors)
        ).astype(np.float32),
        length_of=length_of,
        coverage=target.coverage(asked.texts, pair[0], text_of),
        size=len(target),
    )
    question_lengths = _lengths(asked)
    return candidates.answer(question_lengths - lengths.get(pair[0], float(question_lengths.mean())))


def _means_around(indexes: Indexes, pair: Pair, vectors: Vectors) -> NDArray[np.float32]:
    """(n,) the neighbourhood means of new vectors of the second language of `pair`."""
    sources = [pair[0]] if pair[0] in indexes else [code for code in indexes if code != pair[1]]
    if not sources:
        return np.zeros(len(vectors), np.float32)
    means = [
        neighbourhood_means(indexes[code].vectors.search(vectors, CSLS_NEIGHBOURS)[0]) for code in sources
    ]
    average: NDArray[np.float32] = np.mean(means, axis=0).astype(np.float32)
    return average


def _lengths(probes: Probes) -> NDArray[np.float64]:
    return np.array([length(text) for text in probes.texts], np.float64)


def mean_length(index: SentenceIndex) -> float:
    """The mean `length` of evenly spaced sentences of an index."""
    rows = np.unique(np.linspace(0, len(index) - 1, LENGTHS_READ).astype(np.int64))
    return float(index.lengths(rows).mean())
