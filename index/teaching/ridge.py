"""Ridge regression of sparse texts onto vectors by conjugate gradients, without a dense matrix of texts."""

import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import Vectors
from index.text.pre_tokens import Integers, Tokens

MAX_STEPS = 30
# The residual's norm relative to the target's, in each column, at which the solver stops.
RESIDUAL_TOLERANCE = 1e-3
TOKENS_AT_ONCE = 1 << 16  # whose rows are gathered at a time


def ridge(tokens: Tokens, vocabulary: int, targets: Vectors, penalty: float) -> Vectors:
    """Find the rows (vocabulary, d) that minimise Σ_i |x_i - y_i|² + penalty · |rows|².

    x_i is the sum of text i's rows over the square root of its number of tokens, y_i = targets[i]. Solved in
    the space of texts, (X Xᵀ + penalty) A = Y with rows = Xᵀ A, for all columns side by side.
    """
    texts = _Texts(tokens, vocabulary)
    solution = np.zeros_like(targets)
    residual = targets.astype(np.float32)
    direction = residual.copy()
    squares = _squares(residual)
    least = RESIDUAL_TOLERANCE**2 * squares
    for _ in range(MAX_STEPS):
        if (squares <= least).all():
            break
        image = texts.sums(texts.spread(direction)) + np.float32(penalty) * direction
        step = squares / np.maximum((direction * image).sum(axis=0), 1e-20)
        solution += step * direction
        residual -= step * image
        previous_squares, squares = squares, _squares(residual)
        direction *= squares / np.maximum(previous_squares, 1e-20)
        direction += residual
    return texts.spread(solution)


class _Texts:
    """The sparse matrix X of texts by tokens, and its products with dense ones."""

    def __init__(self, tokens: Tokens, vocabulary: int) -> None:
        self._tokens = tokens
        self._scale = (1 / np.sqrt(np.maximum(tokens.lengths, 1))).astype(np.float32)[:, None]
        order = np.argsort(tokens.ids, kind="stable")
        self._texts_by_token = tokens.texts[order]
        self._lengths_by_token = np.bincount(tokens.ids, minlength=vocabulary)

    def sums(self, rows: Vectors) -> Vectors:
        """X @ rows: (vocabulary, d) -> (texts, d)."""
        return _grouped(rows, self._tokens.ids, self._tokens.lengths) * self._scale

    def spread(self, values: Vectors) -> Vectors:
        """Xᵀ @ values: (texts, d) -> (vocabulary, d)."""
        return _grouped(values * self._scale, self._texts_by_token, self._lengths_by_token)


def _grouped(rows: Vectors, ids: Integers, lengths: Integers) -> Vectors:
    """Sum rows[ids] over consecutive groups of the given lengths."""
    sums = np.zeros((len(lengths), rows.shape[1]), np.float32)
    filled = np.flatnonzero(lengths)
    ends = np.cumsum(lengths[filled])
    begin = 0
    while begin < len(filled):
        first = int(ends[begin] - lengths[filled[begin]])
        end = max(begin + 1, int(np.searchsorted(ends, first + TOKENS_AT_ONCE)))
        block = rows[ids[first : int(ends[end - 1])]]
        starts = ends[begin:end] - lengths[filled[begin:end]] - first
        sums[filled[begin:end]] = np.add.reduceat(block, starts, axis=0)
        begin = end
    return sums


def _squares(rows: Vectors) -> NDArray[np.float32]:
    squares: NDArray[np.float32] = np.square(rows).sum(axis=0)
    return squares
