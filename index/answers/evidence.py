"""Evidence: columns of the table of candidates from which a confidence is computed.

| column | of a sentence and its question |
|---|---|
| `cosine`, `score`, `gap` | of their vectors (candidates.py) |
| `log_candidates` | how many sentences there are to choose from |
| `shortfall` | how much worse the question suits it than the best sentence in the question's language does |
| `length_difference` | of the logs of their lengths, each less its language's mean |
| `covered` | how much of each the words of the other cover, mean of both ways |
| `lacking` | how far the word of either least covered falls short of its best translation |
| `contradicts` | whether each has a number that the other lacks |
| `token_score`, `question_mean`, `log_tokens` | of the question alone: whether it is text like the index's |

Of a word and its translation there are `cosine`, `score` and `gap`; `shortfall`, how much worse the question
suits the answer than the best word of its language does; and `rarer`, how much rarer the answer is.

A column that cannot be computed, since the words or lengths of a language are unknown, is not there.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from index.answers.answer import NO_DIFFERENCES, Differs
from index.answers.candidates import Candidates, gaps, ranked
from index.answers.sentence_features import WORDS_READ, Features, length, number_codes
from index.answers.word_index import UNKNOWN_WORD, WordIndex
from index.arrays import Numbers, Vectors
from index.text.normalisation import lowered, words_of
from index.text.number_words import contradict
from index.text.pre_tokens import Tokens
from index.vectors.neighbourhoods import csls_scores
from index.vectors.vector_index import CANDIDATE_COUNT

DOMAIN = ("token_score", "question_mean", "log_tokens")
LARGEST_TOKEN_SCORE = 4.0  # as a log ratio: no single word decides
# Subtracted from a word's score for each factor of e between the frequencies of question and answer
# (docs/research.md).
FREQUENCY_PENALTY = 0.05
UNKNOWN_RATIO = -1.0  # log ratio of frequencies where one is unknown, as cautious as an answer e times rarer
FOREIGN_RATIO = 5.0  # a word this many times as frequent in the source language is not of the target language
MIN_MARGIN = 0.3  # cosine of a word with its own sentence, less that with the other sentence
SYNONYM_COSINE = 0.45  # two words with at least this cosine mean the same


@dataclass(frozen=True)
class Questions:
    """n questions in one language: cleaned `texts`, each once; these without tags (`bare`).

    `vectors` (n, d): unit vectors, `tokens`, lower-cased `words`: of each as it is read (corpus_words.py).
    """

    language: str
    texts: Sequence[str]
    bare: Sequence[str]
    vectors: Vectors
    tokens: Tokens
    words: Sequence[tuple[str, ...]]

    def of(self, texts: Sequence[str]) -> "Questions":
        """Some of these questions, by their texts."""
        if texts == self.texts:
            return self
        place_of = {text: place for place, text in enumerate(self.texts)}
        places = [place_of[text] for text in texts]
        return Questions(
            self.language,
            texts,
            [self.bare[place] for place in places],
            self.vectors[places],
            self.tokens.take(np.array(places, np.int64)),
            [self.words[place] for place in places],
        )

    @cached_property
    def numbers(self) -> list[Counter[int]]:
        """The codes of the numbers of each question."""
        texts = [(text, words_of(text, self.language)[:WORDS_READ]) for text in self.bare]
        return [number_codes(text, words, self.language) for text, words in texts]

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        return np.array([length(text) for text in self.texts], np.float64)


def add_evidence(
    table: Candidates,
    asked: Questions,
    answered: Features,
    words: "WordPairs | None",
    mean_lengths: Mapping[str, float],
    target: str,
    token_scores: NDArray[np.float32] | None = None,
    best: NDArray[np.float32] | None = None,
) -> Candidates:
    """The table with all columns of evidence that can be computed for sentences in `target`.

    `answered`: the features of the index's sentences; `best` (sentences,): the highest score of each with
    those of the language asked in, unless it is their own. `mean_lengths`: by language. `token_scores`
    (vocabulary,): how much more likely a token is in text of the index's kinds.
    """
    questions, rows, source = table["question"], table["row"], asked.language
    columns = {"log_candidates": np.full(len(table), np.log(max(1, len(answered))), np.float32)}
    if best is not None:
        columns["shortfall"] = np.minimum(table["score"] - best[rows], 0)
    if source in mean_lengths and target in mean_lengths:
        asked_lengths = asked.lengths[questions] - mean_lengths[source]
        columns["length_difference"] = np.abs(answered.lengths[rows] - mean_lengths[target] - asked_lengths)
    if words is not None:
        columns |= words.coverage()
    if token_scores is not None:
        of_questions = domain_columns(asked.tokens, table.question_means, token_scores[asked.tokens.ids])
        columns |= {name: values[questions] for name, values in of_questions.items()}
    return table.with_columns(contradicts=_contradicts(table, asked, answered), **columns)


def domain_columns(
    tokens: Tokens, question_means: NDArray[np.floating], scores: NDArray[np.floating]
) -> dict[str, NDArray[np.float64]]:
    """The columns of DOMAIN of n texts: mean scores of their tokens, mean cosines to the nearest, lengths.

    `scores` (tokens,): of each occurrence.
    """
    sums = np.bincount(tokens.texts, scores, len(tokens))
    means = np.where(tokens.lengths > 0, sums / np.maximum(tokens.lengths, 1), -LARGEST_TOKEN_SCORE)
    columns = means, question_means.astype(np.float64), np.log1p(tokens.lengths)
    return dict(zip(DOMAIN, columns, strict=True))


def _contradicts(table: Candidates, asked: Questions, answered: Features) -> NDArray[np.bool_]:
    rows = zip(map(asked.numbers.__getitem__, table["question"].tolist()), table["row"].tolist(), strict=True)
    found = (bool(numbers) and contradict(numbers, answered.numbers_of(row)) for numbers, row in rows)
    return np.fromiter(found, bool, len(table))


class WordPairs:
    """The words of questions and of their candidates, compared with each other.

    Each distinct word of either language is compared with each of the other once. A word is scored by its
    nearest word in the other sentence, and a sentence's coverage is the mean of these scores, weighted by how
    rare its words are. BERTScore (Zhang et al. 2020, section 3) does the same with cosines; we use CSLS,
    because a word that is close to everything has a high cosine with every word.
    """

    def __init__(
        self, asked: Questions, source: WordIndex, target: WordIndex, questions: Numbers, words: Tokens
    ) -> None:
        """Compare the words of `asked` with those of candidates for `questions` (n,), rows of `target`."""
        self._asked, self._source, self._target, self._questions = asked, source, target, questions
        self._spellings = list(dict.fromkeys(chain.from_iterable(asked.words)))
        number_of = {word: number for number, word in enumerate(self._spellings)}
        self._source_rows = source.rows_of(self._spellings)
        self._source_vectors = source.vectors_of(self._spellings, self._source_rows)
        self._target_rows, numbers = np.unique(words.ids, return_inverse=True)
        self._target_vectors = target.vectors_at(self._target_rows)
        of_questions = Tokens.of([[number_of[word] for word in row] for row in asked.words])
        self._question_words = _padded(of_questions, len(number_of))  # (questions, words)
        self._answer_words = _padded(Tokens(numbers, words.lengths), len(self._target_rows))  # (n, words)
        # (distinct words of questions, of candidates)
        self._cosines: NDArray[np.float32] = self._source_vectors @ self._target_vectors.T

    def coverage(self) -> dict[str, NDArray[np.float32]]:
        """The columns of coverage; 0 where either has no words, none where a language has none in the index.

        A mean hides one word that is wrong: "a boy drinks milk" covers "a girl drinks milk" well. So what a
        sentence lacks is measured, too: of the word whose best translation is furthest from all that the
        other sentence has, how far. What is lacking on one side is as bad as on the other, and columns of
        each side would say nearly the same.
        """
        source, target = self._source, self._target
        if source.vectors is None or target.vectors is None:
            return {}  # they are not in one space
        # Words that were added to the index have no neighbours there.
        target_rows = np.where(self._target_rows < len(target.rarities) - 1, self._target_rows, UNKNOWN_WORD)
        scores = csls_scores(
            self._cosines,
            source.crowding(self._source_rows, target.language)[:, None],
            target.crowding(target_rows, source.language),
        )
        scores = _with_no_word(scores)  # (n, words of the question, words of the candidate)
        question_words, answer_words = self._question_words[self._questions], self._answer_words
        crossed = scores[question_words[:, :, None], answer_words[:, None, :]]
        best = source.best_scores(self._source_rows, self._source_vectors, target)
        question, left_out = _covered(
            crossed.max(axis=2), question_words, source.rarities[self._source_rows], best
        )
        best = target.best_scores(target_rows, self._target_vectors, source)
        answer, added = _covered(crossed.max(axis=1), answer_words, target.rarities[target_rows], best)
        return {"covered": (question + answer) / 2, "lacking": np.maximum(left_out, added)}

    def differences(
        self, places: NDArray[np.int64], answer_vectors: Vectors, answers: Sequence[str]
    ) -> list[Differs]:
        """The words by which the candidates at some places differ from their questions.

        A word is a difference if its vector is clearly closer to its own sentence than to the other sentence,
        and no word of the other sentence means the same. `answer_vectors` (n, d) and `answers`: the
        candidates' unit vectors and texts.
        """
        if not len(self._spellings) or not len(self._target_rows):
            return [NO_DIFFERENCES] * len(places)
        questions = self._questions[places]
        shifts = self._asked.vectors[questions] - answer_vectors
        question_words, answer_words = self._question_words[questions], self._answer_words[places]
        crossed = _with_no_word(self._cosines)[question_words[:, :, None], answer_words[:, None, :]]
        left_out = _unexpressed(self._source_vectors, question_words, shifts, crossed.max(axis=2))
        added = _unexpressed(self._target_vectors, answer_words, -shifts, crossed.max(axis=1))
        found = []
        for number, (question, answer) in enumerate(zip(questions.tolist(), answers, strict=True)):
            words = [self._spellings[word] for word in question_words[number, left_out[number]].tolist()]
            others = self._target_rows[answer_words[number, added[number]]].tolist()
            differs = Differs(
                question=as_written(words, self._asked.bare[question]),
                answer=as_written([self._target.text(row) for row in others], answer),
            )
            found.append(differs if words or others else NO_DIFFERENCES)
        return found


def _with_no_word(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scores of words with words, followed by a row and a column of no word."""
    padded = np.full((len(scores) + 1, scores.shape[1] + 1), -np.inf, np.float32)
    padded[:-1, :-1] = scores
    return padded


def _padded(words: Tokens, padding: int) -> NDArray[np.int64]:
    """(n, longest) the words of n texts, followed by `padding`."""
    table = np.full((len(words), max(1, int(words.lengths.max(initial=0)))), padding, np.int64)
    table[np.arange(table.shape[1]) < words.lengths[:, None]] = words.ids
    return table


def _covered(
    nearest: NDArray[np.float32],
    words: NDArray[np.int64],
    rarities: NDArray[np.float32],
    best: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """(n,) how much of each text is covered, and how much its least covered word lacks.

    `nearest` (n, words): the score of each word's nearest; `words` (n, words): which of the distinct words it
    is, whose `rarities` and `best` scores with any word are given.
    """
    known = np.isfinite(nearest)  # a word on either side
    if not known.any():
        return np.zeros(len(words), np.float32), np.zeros(len(words), np.float32)
    nearest = np.where(known, nearest, np.float32(0))
    weights = rarities.take(words, mode="clip") * known
    covered = (weights * nearest).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
    most = best.take(words, mode="clip")
    lacking = np.where(known & (most > 0), np.maximum(most - np.maximum(nearest, 0), 0), 0)
    return covered.astype(np.float32), lacking.max(axis=1).astype(np.float32)


def _unexpressed(
    vectors: Vectors, words: NDArray[np.int64], shifts: Vectors, nearest: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """(n, words) which words of sentences the other sentence lacks.

    `vectors`: those of the distinct words; `shifts` (n, d): the sentence less the other, in the space of the
    words; `nearest` (n, words): each word's cosine with the most similar word of the other sentence.
    """
    margins = (vectors.take(words, axis=0, mode="clip") @ shifts[:, :, None])[:, :, 0]
    return np.isfinite(nearest) & (margins > MIN_MARGIN) & (nearest < SYNONYM_COSINE)


def as_written(words: Sequence[str], text: str) -> tuple[str, ...]:
    """Those of some lower-cased words and phrases that a text has, as there: as a whole word first.

    In their order, each once, and none that stands within another one.
    """
    if not words:
        return ()
    in_lower_case, found, end = lowered(text), list[str](), 0
    places = {match[0]: match.start() for match in reversed([*re.finditer(r"\w+", in_lower_case)])}
    begins = {word: places.get(word, in_lower_case.find(word)) for word in words}
    for word, begin in sorted(begins.items(), key=lambda pair: (pair[1], -len(pair[0]))):
        if begin + len(word) > end and begin >= 0:  # one that was read as another is not there
            end = begin + len(word)
            found.append(text[begin:end])
    return tuple(found)


def word_candidates(
    words: Sequence[str], rows: NDArray[np.int64], asked: WordIndex, index: WordIndex, k: int
) -> Candidates:
    """The candidates for folded words, given with their rows in `asked`, and all columns of evidence.

    `csls` is the score before the difference in frequency was subtracted. Words of the language asked in that
    hardly occur in the language of answers are left out, unless all candidates are such words.
    """
    if index.vectors is None or not words:
        nothing = np.zeros((len(words), 0), np.float32)
        return ranked(nothing, nothing.astype(np.int64), nothing, 1)
    cosines, neighbours = index.vectors.search(asked.vectors_of(words, rows), max(CANDIDATE_COUNT, k))
    means = index.means_from(asked.language)[neighbours]
    table = ranked(cosines, neighbours, means, neighbours.shape[1])
    distinct, places = np.unique(table["row"], return_inverse=True)
    spellings = [index.text(row) for row in distinct.tolist()]
    own, others = index.frequencies(spellings), asked.frequencies(spellings)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(own)[places] - np.log(asked.frequencies(words))[table["question"]]
    ratios = np.nan_to_num(ratios, nan=UNKNOWN_RATIO, posinf=UNKNOWN_RATIO, neginf=UNKNOWN_RATIO)
    best = index.best_scores(distinct, index.vectors.reconstruct(distinct), asked)[places]
    csls = table["score"]
    table = table.with_columns(
        csls=csls,
        score=csls - FREQUENCY_PENALTY * np.abs(ratios).astype(np.float32),
        shortfall=np.minimum(csls - best, 0),
        rarer=np.minimum(ratios, 0),
    )
    foreign = (others > FOREIGN_RATIO * own)[places]
    at_home = np.bincount(table["question"], ~foreign, len(words)) > 0
    table = table.take(~foreign | ~at_home[table["question"]])
    table = table.take(np.lexsort((-table["score"], table["question"])))
    return table.with_columns(gap=gaps(table["question"], table["score"]))
