"""Subword vectors of a language: learned from examples by ridge regression, measured on held-out lines."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from index.arrays import Numbers, Vectors
from index.encoder.taught import BEGIN, END, TaughtLanguage, spelled, subwords
from index.encoder.text_encoder import TextEncoder
from index.teaching.examples import Examples
from index.text.pre_tokens import Tokens

RIDGE_PENALTY = 0.3
MAX_STEPS = 30  # of conjugate gradients
# The residual's norm relative to the target's, in each column, at which the solver stops.
RESIDUAL_TOLERANCE = 1e-3
LEAST_COUNT = 2  # texts that must contain a subword for it to be learned; for whole words one is enough
BASE_WEIGHTS = (0.0, 0.5, 1.0)  # weights of the encoder's own vectors to choose from
PARTS = 10  # of the pictures: one is held out for measuring, another for choosing


@dataclass(frozen=True)
class Recall:
    """Per cent of `lines` for which the right one of `candidates` is first, and among the first ten."""

    r1: float
    r10: float
    lines: int
    candidates: int

    @classmethod
    def of(cls, places: Numbers, candidates: int) -> "Recall":
        """Compute recalls from the number of candidates before the right one, (n,) with n > 0."""
        first, ten = (100 * float((places < k).mean()) for k in (1, 10))
        return cls(first, ten, len(places), candidates)

    def __str__(self) -> str:
        return f"R@1 {self.r1:.1f}, R@10 {self.r10:.1f}"

    @property
    def chance(self) -> tuple[float, float]:
        """R@1 and R@10 of random answers."""
        return 100 / self.candidates, 100 * min(1.0, 10 / self.candidates)


def held_out(examples: Examples, part: int) -> tuple[Examples, Examples]:
    """Divide examples into the lines to learn from and those held out, which are of a part of the pictures.

    The part of a picture is chosen by the hash of its name.
    """
    named = (examples.pictures.names[row].encode() for row in examples.rows.tolist())
    in_part = np.array([int(hashlib.sha256(name).hexdigest(), 16) % PARTS == part for name in named], bool)
    return examples.take(np.flatnonzero(~in_part)), examples.take(np.flatnonzero(in_part))


def learn(encoder: TextEncoder, examples: Examples, base: float) -> TaughtLanguage:
    """Learn subword vectors that, added to `base` times the encoder's vectors, approximate the pictures'."""
    texts, targets = examples.texts, examples.vectors
    if base:
        targets = targets - np.float32(base) * encoder.encode(texts)
    vocabulary = _vocabulary(texts)
    untrained = TaughtLanguage(vocabulary, np.zeros((len(vocabulary), 0), np.float16), base)
    rows = ridge(untrained.tokens(texts), len(vocabulary), targets, RIDGE_PENALTY)
    return TaughtLanguage(vocabulary, rows.astype(np.float16), base)


def choose_base(encoder: TextEncoder, examples: Examples, part: int) -> float:
    """Choose the one of BASE_WEIGHTS with which held-out lines find their pictures best."""
    training, held = held_out(examples, part)
    if not len(training) or not len(held):
        return BASE_WEIGHTS[0]
    scores = []
    for base in BASE_WEIGHTS:
        places = places_of(encoder, learn(encoder, training, base), held)
        scores.append(float((1 / (1 + places)).mean()))
    return BASE_WEIGHTS[int(np.argmax(scores))]


def places_of(encoder: TextEncoder, taught: TaughtLanguage, questions: Examples) -> Numbers:
    """(n,) for each line, how many pictures are nearer to it than its own."""
    vectors = taught(questions.texts, encoder.encode(questions.texts))
    return places_among(vectors, questions.pictures.vectors, questions.rows)


def places_among(questions: Vectors, candidates: Vectors, rows: Numbers) -> Numbers:
    """(n,) for each question (n, d), how many candidates are nearer to it than the right one, `rows[i]`."""
    cosines = questions @ candidates.T
    right_cosines = np.take_along_axis(cosines, rows[:, None], axis=1)
    places: Numbers = (cosines > right_cosines).sum(axis=1)
    return places


def _vocabulary(texts: Sequence[str]) -> tuple[str, ...]:
    """The subwords to learn, sorted."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({subword for word in spelled(text) for subword in subwords(word)})
    words = {subword for subword in counts if subword.startswith(BEGIN) and subword.endswith(END)}
    return tuple(sorted(words.union(subword for subword, count in counts.items() if count >= LEAST_COUNT)))


def ridge(tokens: Tokens, vocabulary: int, targets: Vectors, penalty: float) -> Vectors:
    """Find the rows (vocabulary, d) that minimise Σ_i |x_i - y_i|² + penalty · |rows|².

    x_i is the sum of text i's rows over the square root of its number of tokens, y_i = targets[i]. Solved in
    the space of texts, (X Xᵀ + penalty) A = Y with rows = Xᵀ A, for all columns side by side, by conjugate
    gradients, without a dense matrix of texts.
    """
    texts = _Texts(tokens, vocabulary)
    solution = np.zeros_like(targets)
    residual = targets.astype(np.float32)
    direction = residual.copy()
    squares = np.square(residual).sum(axis=0)
    least = RESIDUAL_TOLERANCE**2 * squares
    for _ in range(MAX_STEPS):
        if (squares <= least).all():
            break
        image = texts.sums(texts.spread(direction)) + np.float32(penalty) * direction
        step = squares / np.maximum((direction * image).sum(axis=0), 1e-20)
        solution += step * direction
        residual -= step * image
        previous_squares, squares = squares, np.square(residual).sum(axis=0)
        direction *= squares / np.maximum(previous_squares, 1e-20)
        direction += residual
    return texts.spread(solution)


class _Texts:
    """The sparse matrix X of texts by tokens, and its products with dense ones."""

    def __init__(self, tokens: Tokens, vocabulary: int) -> None:
        self._tokens = tokens
        self._scale = (1 / np.sqrt(np.maximum(tokens.lengths, 1))).astype(np.float32)[:, None]
        order = np.argsort(tokens.ids, kind="stable")
        self._by_token = Tokens(tokens.texts[order], np.bincount(tokens.ids, minlength=vocabulary))

    def sums(self, rows: Vectors) -> Vectors:
        """X @ rows: (vocabulary, d) -> (texts, d)."""
        return self._tokens.sums(rows) * self._scale

    def spread(self, values: Vectors) -> Vectors:
        """Xᵀ @ values: (texts, d) -> (vocabulary, d)."""
        return self._by_token.sums(values * self._scale)
