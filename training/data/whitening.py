"""A fixed visual space: the features' principal components, scaled (partly) to equal variance."""

import numpy as np

from index.encoder.vectors import Vectors
from index.errors import TrainingError

SAMPLE_ROWS = 20_000  # enough for the covariance of a few thousand dimensions


def fit_whitening(features: Vectors, dimension: int, power: float, seed: int) -> tuple[Vectors, Vectors]:
    """PCA of (N, F) features to `dimension` components, each divided by its standard deviation ** `power`.

    Returns `mean` and `projection` of x -> unit((x - mean) @ projection).

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
    return mean, (axes[:, strongest] / deviation**power).astype(np.float32)
