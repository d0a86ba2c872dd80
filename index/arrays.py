"""Arrays: vectors are rows of unit length, whose inner products are cosines; numbers are integers."""

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]  # of rows, or of what else is counted


def unit(rows: NDArray[np.floating]) -> Vectors:
    """(n, d) rows divided by their norms; a row of zeros stays zeros."""
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, 1e-12), dtype=np.float32)
