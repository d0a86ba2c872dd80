"""Fits the confidence of an index on questions whose right answers are known.

These are its aligned sentences, or scenes whose translations are added to it. Each is asked twice, with its
translations among the candidates and without them, so that a low confidence can also mean "not in the index".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from index.answers.candidates import (
    ANSWERS_CONSIDERED,
    LEFT_OUT,
    SUPPORTED_CONSIDERED,
    Candidates,
    firsts,
    joined,
    limited,
    ranked,
)
from index.answers.evidence import WordPairs, add_evidence
from index.answers.sentence_index import supported
from index.arrays import Numbers
from index.build.pools import Indexes, Pool, aligned, paraphrase_pools, scene_paraphrases, text_pools
from index.build.probes import Pair, encoded, shortened
from index.confidence.models import RIDGE, Confidence, Model, Models, calibration_error, fit
from index.encoder.text_encoder import TextEncoder
from index.vectors.vector_index import drawn_rows

# What the models of an index weigh. Cosines are higher in some kinds of text than in others, the number of
# candidates hardly varies within an index, and how far an answer is above the next says nothing of it where
# that is its opposite.
FULL = ("score", "length_difference", "covered", "lacking", "shortfall")
# Of a question in a language without sentences no word tells an answer from its opposite: the gap does.
FOREIGN, GLOSS = ("score", "gap"), ("score",)
FOREIGN_ALIGNED = ("aligned_score", "aligned_gap")
PARAPHRASE = ("cosine", "covered", "lacking", "length_difference")
TOP_ANSWERS = 10  # answers among which `in_ten` looks
PARAPHRASES, LEAST_PARAPHRASES = 2000, 100  # asked, over all languages; with fewer, scenes are asked
FOREIGN_ASKED, LEAST_FOREIGN = 2000, 100  # over all pairs of languages, as if the first had no sentences
FOLDS = 2
SCENES_RIDGE = 1e-2  # scenes are told apart more easily than what people ask (docs/research.md)
CHOICE_ROUNDS = 3  # of choosing answers and fitting to those chosen


@dataclass(frozen=True)
class Outcomes:
    """n questions of one language pair, first with their translations in the index, then again without.

    `table`: the candidates of these 2 n questions, with all evidence and the column `right`. `in_ten` (n,):
    whether a right one is among the ten of the highest scores.
    """

    table: Candidates
    in_ten: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.in_ten)

    def first_right(self, chances: NDArray[np.float64]) -> float:
        """The share of questions whose likeliest answer is right, if a right one is in the index."""
        return float(self.table["right"][likeliest(self.table, chances)].sum()) / len(self)


def ask(indexes: Indexes, pools: Iterable[Pool], pair: Pair, lengths: Mapping[str, float]) -> Outcomes:
    """Answer the questions of pools with all evidence, once with the right answers and once without."""
    halves: tuple[list[Candidates], list[Candidates]] = [], []
    in_ten = []
    for pool in pools:
        known = {pair[0]: float(pool.asked.lengths.mean()), **lengths}
        source = indexes.words.get(pair[0]) or pool.words.without_index(pair[0])
        for half, table in zip(halves, _answered(pool, TOP_ANSWERS), strict=True):
            if half is halves[0]:
                in_ten.append(np.bincount(table["question"], table["right"], table.count) > 0)
            table = limited(table, [ANSWERS_CONSIDERED] * table.count)
            answered = pool.features.words_of(table["row"])
            words = WordPairs(pool.asked, source, pool.words, table["question"], answered)
            half.append(add_evidence(table, pool.asked, pool.features, words, known, pair[1], best=pool.best))
    return Outcomes(joined([*halves[0], *halves[1]]), np.concatenate(in_ten))


def _answered(pool: Pool, most: int) -> Iterator[Candidates]:
    """The `most` best answers to each question, with the column `right`; then the best but the right ones."""
    size = len(pool.features)
    asked, places = np.nonzero(pool.right)
    right = asked * size + pool.rows[asked, places]
    for left_out in (np.zeros_like(pool.right), pool.right):
        # Neighbours that are left out go to the end, as far from the question as possible.
        cosines = np.where(left_out, np.float32(LEFT_OUT), pool.cosines)
        order = np.argsort(-cosines, axis=1, kind="stable")
        rows = np.take_along_axis(pool.rows, order, 1)
        table = ranked(np.take_along_axis(cosines, order, 1), rows, pool.means[rows], most)
        yield table.with_columns(right=np.isin(table["question"] * size + table["row"], right))


def fit_paraphrases(indexes: Indexes, lengths: Mapping[str, float], encoder: TextEncoder) -> Model | None:
    """Fit the probability that a sentence of the question's own language means the same.

    On aligned languages, or on scenes that are added to these if they have too few sentences; None if the
    languages have no scenes, either.
    """
    rows = {code: len(index) for code, index in indexes.sentences.items() if index.groups is not None}
    if sum(rows.values()) < LEAST_PARAPHRASES:
        pools = scene_paraphrases(indexes, rows, PARAPHRASES, encoder)
    else:
        pools = {
            code: paraphrase_pools(indexes, code, drawn_rows(count, PARAPHRASES // len(rows)), encoder)
            for code, count in rows.items()
        }
    tables = [ask(indexes, own, (code, code), lengths).table for code, own in pools.items()]
    return fit_choice(joined(tables), PARAPHRASE) if tables else None


def fit_foreign(indexes: Indexes, encoder: TextEncoder, random: np.random.Generator) -> Model | None:
    """Fit the probability that an answer in an aligned language is right for a language without sentences.

    Aligned sentences of each language, without one of their words, are asked as if it had none. None if there
    are too few.
    """
    known, tables = {code: index for code, index in indexes.sentences.items() if index.groups}, []
    pairs = list(permutations(sorted(known), 2))
    for source, target in pairs:
        index, others = known[target], [one for code, one in known.items() if code not in (source, target)]
        rows, answers = aligned(indexes, (source, target), -(-FOREIGN_ASKED // len(pairs)), random)
        texts = shortened([known[source].text(row) for row in rows.tolist()])
        texts, _, vectors = encoded(texts, encoder, source)
        for pool in text_pools(indexes, (source, target), texts, vectors, answers):
            pool = replace(pool, means=index.means_from(""))  # as a language without sentences sees it
            for table in _answered(pool, SUPPORTED_CONSIDERED):
                table = supported(table, pool.asked.vectors, index, others)
                tables.append(limited(table, [ANSWERS_CONSIDERED] * table.count))
    if sum(table.count for table in tables) < 2 * LEAST_FOREIGN:
        return None
    return fit_choice(joined(tables), FOREIGN_ALIGNED)


def likeliest(table: Candidates, chances: NDArray[np.float64]) -> Numbers:
    """The place of each question's likeliest candidate; of equal ones, that with the highest score."""
    order = np.lexsort((-chances, table["question"]))
    return order[firsts(table["question"][order])]


def fit_choice(table: Candidates, names: Sequence[str], ridge: float = RIDGE) -> Model:
    """Fit the probability that the answer chosen for a question, the likeliest, is right.

    The first fit is to all answers, each later one to the answers that the fit before it chooses. With more
    `ridge` than usual all evidence gets some weight; then the probabilities are made as steep as they were.
    """
    model = fit_all(table, names, ridge)
    for _ in range(CHOICE_ROUNDS):
        chosen = table.take(likeliest(table, model.probability(table.columns)))
        if chosen["right"].all():
            return model  # a fit to these would call every answer right
        model = fit_all(chosen, names, ridge)
    return model.rescaled(chosen.columns, chosen["right"]) if ridge > RIDGE else model


def fit_all(table: Candidates, names: Iterable[str], ridge: float = RIDGE) -> Model:
    """Fit the probability that an answer is right, whether it is chosen or not."""
    return fit({name: table[name] for name in names}, table["right"], ridge=ridge)


def fit_confidence(
    asked: Mapping[Pair, Outcomes],
    lengths: Mapping[str, float],
    random: np.random.Generator,
    source: Literal["aligned", "scenes"],
    encoder: Models,
) -> tuple[Confidence, dict[Pair, NDArray[np.float64]]]:
    """Fit a confidence; compute each candidate's probability from a fit on the other questions."""
    asked = dict(sorted(asked.items()))  # the same for any order of the languages
    table = joined([answered.table for answered in asked.values()])
    ridge = SCENES_RIDGE if source == "scenes" else RIDGE
    # An index of one language is asked in languages of which it has no words.
    names = FULL if "covered" in table.columns else FOREIGN
    folds = np.concatenate([np.tile(random.integers(FOLDS, size=len(part)), 2) for part in asked.values()])
    fold, chances = folds[table["question"]], np.zeros(len(table))
    for held_out in range(FOLDS):
        model = fit_choice(table.take(fold != held_out), names, ridge)
        chances[fold == held_out] = model.probability(table.take(fold == held_out).columns)
    chosen = likeliest(table, chances)
    first = firsts(table["question"])
    confidence = Confidence(
        source=source,
        n=table.count,
        ece=calibration_error(chances[chosen], table["right"][chosen]),
        sentence=fit_choice(table, names, ridge),
        foreign=fit_all(table.take(first), FOREIGN, ridge),
        gloss=fit_all(table.take(first), GLOSS, ridge),
        paraphrase=encoder.paraphrase,
        word=encoder.word,
        lengths=dict(lengths),
    )
    ends = np.cumsum([0, *(len(answered.table) for answered in asked.values())]).tolist()
    return confidence, {
        pair: chances[begin:end] for pair, (begin, end) in zip(asked, pairwise(ends), strict=True)
    }
