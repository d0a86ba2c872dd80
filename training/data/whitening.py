"""A fixed visual space: the features' principal components, scaled (partly) to equal variance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import unit
from index.errors import TrainingError

SAMPLE_ROWS = 20_000  # enough for the covariance of a few thousand dimensions


@dataclass(frozen=True)
class Whitening:
    """x -> unit((x - mean) @ projection)."""

    mean: NDArray[np.float32]
    projection: NDArray[np.float32]

    def __call__(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """(..., F) -> (..., D) unit rows."""
        return unit((features - self.mean) @ self.projection)


def fit_whitening(features: NDArray[np.float32], dimension: int, power: float, seed: int) -> Whitening:
    """PCA of (N, F) features to `dimension` components, each divided by its standard deviation ** `power`.

    power 1 whitens, 0 is plain PCA; values between keep part of the weight of strong components over weak,
    noisier ones.
    """
    n, width = features.shape
    if dimension >= min(n, width):
        raise TrainingError(
            f"head.dimension {dimension} needs more pictures and features than that; here {n} and {width}"
        )
    if n > SAMPLE_ROWS:
        features = features[np.random.default_rng(seed).choice(n, SAMPLE_ROWS, replace=False)]
    mean = features.mean(axis=0)
    centred = features.astype(np.float64) - mean
    variances, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    strongest = np.argsort(variances)[::-1][:dimension]
    deviation = np.sqrt(np.maximum(variances[strongest], 1e-12))
    return Whitening(mean, (axes[:, strongest] / deviation**power).astype(np.float32))
