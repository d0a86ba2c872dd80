"""The whitened picture space of a run: fitted to its pictures, or that of what it goes on from."""

from dataclasses import replace

import numpy as np
import torch

from index.arrays import Vectors, unit
from index.encoder.picture_space import PictureSpace, Seen
from index.errors import TrainingError, UsageError
from training.encoders.stored import Start
from training.encoders.vision import Backbone, VisionSettings

SAMPLE_ROWS = 20_000  # enough for the covariance of a few thousand dimensions
SAME_BACKBONE = 0.9  # cosine of the probe's features: that of one backbone in other precisions is higher


def probe(backbone: Backbone, size: int) -> Vectors:
    """(F,) the features of a synthetic picture of waves, by which a backbone can be recognised."""
    rows, columns = np.mgrid[:size, :size] * (2 * np.pi / size)
    waves = [np.sin(a * rows + b * columns + a) for a, b in ((1, 2), (5, -3), (-7, 11))]
    pixels = (127.5 + 127 * np.stack(waves, axis=-1)).astype(np.uint8)[None]
    features = backbone.evaluated(torch.from_numpy(backbone.scale(pixels)))
    return np.asarray(features[0].cpu().numpy())


def is_seen_by(space: PictureSpace, backbone: Backbone) -> bool:
    """Whether a space maps the features of this backbone, and not of another."""
    features = probe(backbone, space.seen.image_size)
    if features.shape != space.probe.shape:
        return False
    return float(unit(features) @ unit(space.probe)) >= SAME_BACKBONE


def fit_picture_space(
    backbone: Backbone, features: Vectors, vision: VisionSettings, dimension: int, seed: int
) -> PictureSpace:
    """Whiten the features (V, N, F) of a run's training pictures to `dimension` components."""
    rows = features.reshape(-1, features.shape[-1])
    mean, projection = fit_whitening(rows, dimension, vision.whitening, seed)
    return PictureSpace(_seen(vision), mean, projection, probe(backbone, vision.image_size))


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


def take_over(
    start: Start, backbone: Backbone, vision: VisionSettings, dimension: int
) -> PictureSpace | None:
    """The picture space of a start, for a run that sees pictures as `vision` says; None if it has none.

    UsageError if it was trained with another backbone, or has other than `dimension` dimensions.
    """
    if start.space is None:
        return None
    if (width := start.embeddings.shape[1]) != dimension:
        raise UsageError(
            f"text.start {start.folder}: {width} dimensions; the recipe has {dimension} (head.dimension)"
        )
    if not is_seen_by(start.space, backbone):
        (seen,) = start.space.seen.backbone
        raise UsageError(
            f"text.start {start.folder}: trained with vision.backbone {seen}, in whose space its texts lie; "
            "give the recipe the same"
        )
    return replace(start.space, seen=_seen(vision), probe=probe(backbone, vision.image_size))


def _seen(vision: VisionSettings) -> Seen:
    return Seen(backbone=(vision.backbone,), image_size=vision.image_size, views=vision.views)
