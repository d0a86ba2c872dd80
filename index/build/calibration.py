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
from index.answers.evidence import Questions, WordPairs, add_evidence
from index.answers.sentence_features import WORDS_READ, Features
from index.answers.sentence_index import SentenceIndex, supported
from index.answers.word_index import WordIndex
from index.arrays import Numbers, Vectors
from index.build import probes
from index.build.probes import Pair, Probes, encoded, first_scenes, reworded, shortened
from index.confidence.models import RIDGE, Confidence, Model, Models, calibration_error, fit
from index.encoder.text_encoder import TextEncoder
from index.text.normalisation import words_of
from index.text.placeables import without_tags
from index.text.pre_tokens import Tokens
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, best_csls, neighbourhood_means
from index.vectors.vector_index import CANDIDATE_COUNT, drawn_rows

# What the models of an index weigh. Cosines are higher in some kinds of text than in others, the number of
# candidates hardly varies within an index, and how far an answer is above the next says nothing of it where
# that is its opposite.
FULL = ("score", "length_difference", "covered", "lacking", "shortfall")
# Of a question in a language without sentences no word tells an answer from its opposite: the gap does.
FOREIGN, GLOSS = ("score", "gap"), ("score",)
FOREIGN_ALIGNED = ("aligned_score", "aligned_gap")
PARAPHRASE = ("cosine", "covered", "lacking", "length_difference")
TRIES_PER_QUESTION = 4  # sentences looked at for each question needed, since not all have a translation
LENGTHS_READ = 2000  # sentences of a language, to estimate its mean length
QUESTIONS_AT_ONCE = 256
TOP_ANSWERS = 10  # answers among which `in_ten` looks
MAX_SCENE_COPIES = 4  # of one scene that an index may have
COPY_COSINE = 0.9999  # at least, of a scene to its copy
PARAPHRASES, LEAST_PARAPHRASES = 2000, 100  # asked, over all languages; with fewer, scenes are asked
FOREIGN_ASKED, LEAST_FOREIGN = 2000, 100  # over all pairs of languages, as if the first had no sentences
FOLDS = 2
SCENES_RIDGE = 1e-2  # scenes are told apart more easily than what people ask (docs/research.md)
CHOICE_ROUNDS = 3  # of choosing answers and fitting to those chosen


@dataclass(frozen=True)
class Indexes:
    """The sentences and words of a version that is being built, by language."""

    sentences: Mapping[str, SentenceIndex]
    words: Mapping[str, WordIndex]

    def mean_lengths(self) -> dict[str, float]:
        """The mean length of evenly spaced sentences of each language."""
        lengths = {}
        for code, index in self.sentences.items():
            rows = np.unique(np.linspace(0, len(index) - 1, LENGTHS_READ).astype(np.int64))
            lengths[code] = float(index.features.lengths[rows].mean(dtype=np.float64))
        return lengths


@dataclass(frozen=True)
class Outcomes:
    """n questions of one language pair, first with their translations in the index, then again without.

    `table`: their candidates, with all evidence and the column `right`. `in_ten` (n,): whether a right one is
    among the ten of the highest scores.
    """

    table: Candidates
    in_ten: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.in_ten)

    def first_right(self, chances: NDArray[np.float64]) -> float:
        """The share of questions whose likeliest answer is right, if a right one is in the index."""
        places = likeliest(self.table, chances)
        right = self.table["right"][places] & (self.table["question"][places] < len(self))
        return float(right.sum()) / len(self)


@dataclass(frozen=True)
class Pool:
    """The neighbours of n questions, (n, m), and which of them are `right`.

    `means`, `best` (sentences,) and `features` are those of all sentences that may be answers, `words` their
    words; no `best` of sentences of the language of the questions.
    """

    asked: Questions
    cosines: Vectors
    rows: Numbers
    right: NDArray[np.bool_]
    means: NDArray[np.float32]
    best: NDArray[np.float32] | None
    features: Features
    words: WordIndex


def ask(indexes: Indexes, pools: Iterable[Pool], pair: Pair, lengths: Mapping[str, float]) -> Outcomes:
    """Answer the questions of pools with all evidence, once with the right answers and once without."""
    halves: tuple[list[Candidates], list[Candidates]] = [], []
    in_ten = []
    for pool in pools:
        for half, left_out in zip(halves, (np.zeros_like(pool.right), pool.right), strict=True):
            table = _answered(pool, left_out, TOP_ANSWERS)
            if half is halves[0]:
                hits = np.bincount(table["question"], table["right"], len(pool.right))
                in_ten.append(hits > 0)
            table = limited(table, [ANSWERS_CONSIDERED] * len(pool.right))
            words = WordPairs(
                pool.asked,
                indexes.words.get(pair[0]) or pool.words.without_index(pair[0]),
                pool.words,
                table["question"],
                pool.features.words_of(table["row"]),
            )
            known = {pair[0]: float(pool.asked.lengths.mean()), **lengths}
            add_evidence(table, pool.asked, pool.features, words, known, pair, best=pool.best)
            half.append(table)
    return Outcomes(joined([*halves[0], *halves[1]]), np.concatenate(in_ten))


def _answered(pool: Pool, left_out: NDArray[np.bool_], most: int) -> Candidates:
    """The `most` best answers to each question, with the column `right`."""
    # Neighbours that are left out go to the end, as far from the question as possible.
    cosines = np.where(left_out, np.float32(LEFT_OUT), pool.cosines)
    order = np.argsort(-cosines, axis=1, kind="stable")
    rows = np.take_along_axis(pool.rows, order, 1)
    table = ranked(np.take_along_axis(cosines, order, 1), rows, pool.means[rows], most)
    size = len(pool.features)
    asked, places = np.nonzero(pool.right)
    right = asked * size + pool.rows[asked, places]
    table.columns["right"] = np.isin(table["question"] * size + table["row"], right)
    return table


def aligned(
    indexes: Indexes, pair: Pair, count: int, random: np.random.Generator
) -> tuple[Numbers, list[list[int]]]:
    """Draw up to `count` rows of the first language that have translations in the second, and their rows."""
    source, target = (indexes.sentences[code] for code in pair)
    if source.groups is None or target.groups is None:
        return np.zeros(0, np.int64), []
    tries = min(len(source), TRIES_PER_QUESTION * count)
    tried = random.choice(len(source), tries, replace=False, shuffle=False)
    found: list[tuple[int, list[int]]] = []
    for row in tried.tolist():
        if len(found) < count and (translations := source.translations(row, target)):
            found.append((row, translations))
    return np.array([row for row, _ in found], np.int64), [translations for _, translations in found]


def paraphrase_pools(indexes: Indexes, code: str, rows: Numbers, encoder: TextEncoder) -> Iterable[Pool]:
    """Sentences of a language, by their rows, reworded and asked of that language itself."""
    texts = reworded([indexes.sentences[code].text(row) for row in rows.tolist()])
    vectors = encoder.encode(texts, language=code)
    return _pools(indexes, (code, code), texts, vectors, [[row] for row in rows.tolist()])


def scene_paraphrases(
    indexes: Indexes, codes: Iterable[str], encoder: TextEncoder
) -> dict[str, Iterable[Pool]]:
    """Scenes of languages reworded and asked of their own language, to whose sentences they are added."""
    drawn = probes.asked(
        indexes.sentences,
        [(code, code) for code in codes if first_scenes(code)],
        lambda code: reworded(first_scenes(code)),
        PARAPHRASES,
        encoder,
    )
    return {
        code: scene_pools(
            indexes, (code, code), own, AddedScenes.to(indexes, code, np.sort(own.lines), encoder)
        )
        for (code, _), own in drawn.items()
    }


def fit_paraphrases(indexes: Indexes, lengths: Mapping[str, float], encoder: TextEncoder) -> Model | None:
    """Fit the probability that a sentence of the question's own language means the same.

    On aligned languages, or on scenes that are added to these if they have too few sentences; None if the
    languages have no scenes, either.
    """
    rows = {code: len(index) for code, index in indexes.sentences.items() if index.groups is not None}
    if sum(rows.values()) < LEAST_PARAPHRASES:
        pools = scene_paraphrases(indexes, rows, encoder)
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
        for pool in _pools(indexes, (source, target), texts, vectors, answers):
            pool = replace(pool, means=index.means_from(""))  # as a language without sentences sees it
            for left_out in (np.zeros_like(pool.right), pool.right):
                table = _answered(pool, left_out, SUPPORTED_CONSIDERED)
                table = supported(table, pool.asked.vectors, index, others)
                tables.append(limited(table, [ANSWERS_CONSIDERED] * len(pool.right)))
    if sum(table.count for table in tables) < 2 * LEAST_FOREIGN:
        return None
    return fit_choice(joined(tables), FOREIGN_ALIGNED)


def sentence_pools(
    indexes: Indexes, pair: Pair, rows: Numbers, answers: Sequence[list[int]]
) -> Iterable[Pool]:
    """Sentences of the first language of `pair`, whose translations in the second are `answers`, by row."""
    source = indexes.sentences[pair[0]]
    texts = [source.text(row) for row in rows.tolist()]
    return _pools(indexes, pair, texts, source.vectors.reconstruct(rows), answers)


def _pools(
    indexes: Indexes, pair: Pair, texts: Sequence[str], vectors: Vectors, answers: Sequence[list[int]]
) -> Iterator[Pool]:
    """Texts in the first language of `pair`, whose right answers in the second are `answers`, by row."""
    source, target = pair
    index = indexes.sentences[target]
    for begin in range(0, len(texts), QUESTIONS_AT_ONCE):
        block = slice(begin, begin + QUESTIONS_AT_ONCE)
        cosines, rows = index.vectors.search(vectors[block], CANDIDATE_COUNT, batched=True)
        yield Pool(
            _asked(source, texts[block], vectors[block]),
            cosines,
            rows,
            np.stack([np.isin(row, right) for row, right in zip(rows, answers[block], strict=True)]),
            index.means_from(source),
            None if source == target else index.best_from(source),
            index.features,
            indexes.words[target],
        )


@dataclass(frozen=True)
class AddedScenes:
    """Scenes of one language as if they were the last sentences of its index.

    `lines` of corpora/everyday, ascending; `vectors` (n, d) of each; `copies` (n, m): rows of the index that
    are the same, or -1; `features` and `words`: of the index, with them.
    """

    lines: Numbers
    vectors: Vectors
    copies: Numbers
    features: Features
    words: WordIndex

    @classmethod
    def to(cls, indexes: Indexes, code: str, lines: Numbers, encoder: TextEncoder) -> "AddedScenes":
        """Add those scenes to a language of an index."""
        index, every = indexes.sentences[code], first_scenes(code)
        texts, _, vectors = encoded([every[line] for line in lines.tolist()], encoder, code)
        cosines, rows = index.vectors.search(vectors, MAX_SCENE_COPIES, batched=True)
        known = indexes.words[code]
        # All words of the texts, as an index has all words of its sentences.
        found = dict.fromkeys(word for text in texts for word in words_of(text, code))
        words = known.with_words([word for word in found if word not in known])
        added = Features.of([texts], words.spellings, code)
        copies = np.where(cosines >= COPY_COSINE, rows, -1)
        return cls(lines, vectors, copies, index.features.followed(added), words)


def scene_pools(indexes: Indexes, pair: Pair, asked: Probes, added: AddedScenes) -> Iterable[Pool]:
    """Scenes in the first language of `pair`, their translations `added` to the sentences of the second.

    The first language need not be in the index. Copies of the translations in the index are left out.
    """
    target, places = indexes.sentences[pair[1]], np.searchsorted(added.lines, asked.lines)
    around = np.zeros((2, len(added.lines)), np.float32)
    around[:, places] = _around(indexes, pair, added.vectors[places])
    known = np.stack([target.means_from(pair[0]), target.best_from(pair[0])])
    means, best = np.concatenate([known, around], axis=1)
    for begin in range(0, len(asked), QUESTIONS_AT_ONCE):
        block = np.arange(begin, min(begin + QUESTIONS_AT_ONCE, len(asked)))
        vectors, neighbours, own = asked.vectors[block], asked.rows[block], places[block]
        is_copy = (neighbours[:, :, None] == added.copies[own][:, None]).any(axis=2)
        cosines = np.where(is_copy, np.float32(LEFT_OUT), asked.cosines[block])
        right = np.zeros((len(block), 1 + neighbours.shape[1]), bool)
        right[:, 0] = True
        yield Pool(
            _asked(pair[0], [asked.texts[row] for row in block.tolist()], vectors),
            np.column_stack([(vectors * added.vectors[own]).sum(1), cosines]),
            np.column_stack([len(target) + own, neighbours]),
            right,
            means,
            best,
            added.features,
            added.words,
        )


def _asked(language: str, texts: Sequence[str], vectors: Vectors) -> Questions:
    """Questions without tokens, which tell the kind of a text: that is fitted by itself (domain.py)."""
    bare = [without_tags(text) for text in texts]
    words = [words_of(text, language)[:WORDS_READ] for text in bare]
    return Questions(language, texts, bare, vectors, Tokens.of([[]] * len(texts)), words)


def _around(indexes: Indexes, pair: Pair, vectors: Vectors) -> NDArray[np.float32]:
    """(2, n) the neighbourhood means and the best scores of new vectors of the second language of `pair`."""
    codes = indexes.sentences
    sources = [pair[0]] if pair[0] in codes else [code for code in codes if code != pair[1]]
    if not sources:
        return np.zeros((2, len(vectors)), np.float32)
    around = []
    for code in sources:
        cosines, rows = codes[code].vectors.search(vectors, CSLS_NEIGHBOURS, batched=True)
        means = neighbourhood_means(cosines)
        around.append([means, best_csls(cosines, means, codes[code].means_from(pair[1])[rows])])
    average: NDArray[np.float32] = np.mean(around, axis=0).astype(np.float32)
    return average


def likeliest(table: Candidates, chances: NDArray[np.float64]) -> Numbers:
    """The place of each question's likeliest candidate; of equal ones, that with the highest score."""
    order = np.lexsort((-chances, table["question"]))
    return order[firsts(table["question"][order])]


def fit_choice(table: Candidates, names: Sequence[str], ridge: float = RIDGE) -> Model:
    """Fit the probability that the answer chosen for a question, the likeliest, is right.

    The first fit is to all answers, each later one to the answers that the fit before it chooses. With more
    `ridge` than usual all evidence gets some weight; then the probabilities are made as steep as they were.
    """
    model = _fit(table, names, ridge)
    for _ in range(CHOICE_ROUNDS):
        chosen = table.take(likeliest(table, model.probability(table.columns)))
        if chosen["right"].all():
            return model  # a fit to these would call every answer right
        model = _fit(chosen, names, ridge)
    return model.rescaled(chosen.columns, chosen["right"]) if ridge > RIDGE else model


def _fit(table: Candidates, names: Iterable[str], ridge: float) -> Model:
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
    names = FULL if table.columns.keys() >= set(FULL) else FOREIGN
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
        foreign=_fit(table.take(first), FOREIGN, ridge),
        gloss=_fit(table.take(first), GLOSS, ridge),
        paraphrase=encoder.paraphrase,
        word=encoder.word,
        lengths=dict(lengths),
    )
    ends = np.cumsum([0, *(len(answered.table) for answered in asked.values())]).tolist()
    return confidence, {
        pair: chances[begin:end] for pair, (begin, end) in zip(asked, pairwise(ends), strict=True)
    }
