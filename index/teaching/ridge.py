"""Ridge regression of sparse texts onto vectors by conjugate gradients, without a dense matrix of texts."""

import numpy as np

from index.arrays import Vectors
from index.text.pre_tokens import Tokens

MAX_STEPS = 30
# The residual's norm relative to the target's, in each column, at which the solver stops.
RESIDUAL_TOLERANCE = 1e-3


def ridge(tokens: Tokens, vocabulary: int, targets: Vectors, penalty: float) -> Vectors:
    """Find the rows (vocabulary, d) that minimise Σ_i |x_i - y_i|² + penalty · |rows|².

    x_i is the sum of text i's rows over the square root of its number of tokens, y_i = targets[i]. Solved in
    the space of texts, (X Xᵀ + penalty) A = Y with rows = Xᵀ A, for all columns side by side.
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
