"""Rows of length one."""

import numpy as np
from numpy.typing import NDArray


def unit(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    """Rows divided by their norm; a zero row stays zero."""
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, 1e-12), dtype=np.float32)
