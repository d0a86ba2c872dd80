"""Computes the features of a frozen backbone and keeps them in the user's cache.

On a CPU, ONNX Runtime runs MobileNetV2 about four times as fast as torch
(benchmarks/training/backbone_speed.py); few pictures go through torch, which needs no graph to be exported.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray
from PIL import Image
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from index.arrays import Vectors
from index.errors import TrainingError
from index.progress import Progress
from index.storage.files import cache_folder
from training.data.picture_source import Decoded
from training.data.pictures import PictureArchive, PictureCollection
from training.encoders.vision import Backbone
from training.quiet import quiet

FEATURE_BATCH = 8  # pictures; larger batches do not fit the CPU cache
FEW_PIXELS = 10_000_000  # of all views: torch has seen as many before a graph is exported


@dataclass(frozen=True)
class View:
    """A crop (left, top, right, bottom as shares of the side), resized back, perhaps flipped."""

    left: float = 0.0
    top: float = 0.0
    right: float = 1.0
    bottom: float = 1.0
    flipped: bool = False

    def __call__(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """(S, S, 3) -> (S, S, 3)."""
        side = len(picture)
        box = (side * self.left, side * self.top, side * self.right, side * self.bottom)
        image = Image.fromarray(picture).resize((side, side), Image.Resampling.BILINEAR, box=box)
        out = np.asarray(image)
        return np.ascontiguousarray(out[:, ::-1]) if self.flipped else out


# A recipe with `views = n` takes the first n.
FEATURE_VIEWS = (
    View(),
    View(flipped=True),
    View(0.0, 0.0, 0.8, 0.8),
    View(0.07, 0.07, 0.93, 0.93, flipped=True),
    View(0.2, 0.2, 1.0, 1.0),
    View(0.2, 0.0, 1.0, 0.8, flipped=True),
    View(0.0, 0.2, 0.8, 1.0, flipped=True),
    View(0.15, 0.15, 0.85, 0.85),
    View(0.0, 0.1, 0.9, 1.0),
    View(0.1, 0.0, 1.0, 0.9),
)


def features_of_views(
    backbone: Backbone, archive: PictureArchive, pictures: Sequence[str], views: int
) -> Vectors:
    """Features of the first `views` fixed views of each picture: (views, N, F).

    The user's cache has a file for each combination of weights, archive and views, so that runs with other
    seeds, objectives or languages compute only the features of new pictures.
    """
    file = _cache_file(backbone, archive, views)
    known = _read_cache(file)
    new = [name for name in dict.fromkeys(pictures) if name not in known]
    if new:
        features = extract_features(backbone, archive, new, views)
        if not np.isfinite(features).all():
            raise TrainingError("the backbone gives features that are not finite; check its weights")
        known |= zip(new, features.swapaxes(0, 1), strict=True)
        _write_cache(file, known)
    return np.stack([known[name] for name in pictures], axis=1)


def features_of_collection(
    backbone: Backbone, pictures: PictureCollection, names: Sequence[str], views: int
) -> Vectors:
    """Features of pictures of several archives, each with a file of its own in the cache: (views, N, F)."""
    rows: list[int] = []
    features = []
    for archive, archive_rows in pictures.divided(names):
        rows += archive_rows
        own = [names[row] for row in archive_rows]
        features.append(features_of_views(backbone, archive, own, views))
    return np.concatenate(features, axis=1)[:, np.argsort(rows)]


def _read_cache(file: Path | None) -> dict[str, Vectors]:
    """Picture -> its cached features (views, F); none if the file is missing or damaged."""
    try:
        tensors = load_file(file) if file else {}
        names = tensors["names"].tobytes().decode().split("\n")
        return dict(zip(names, tensors["features"].swapaxes(0, 1), strict=True))
    except (OSError, SafetensorError, KeyError, ValueError):
        return {}


def _write_cache(file: Path | None, features: Mapping[str, Vectors]) -> None:
    if file is None:
        return
    names = np.frombuffer("\n".join(features).encode(), np.uint8)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        save_file({"features": np.stack(list(features.values()), axis=1), "names": names}, part)
        part.replace(file)
    except (OSError, SafetensorError):
        pass  # a full or read-only cache costs time next time, no more


def _cache_file(backbone: Backbone, archive: PictureArchive, views: int) -> Path | None:
    folder = cache_folder()
    digest = hashlib.sha256()
    for name, tensor in backbone.state_dict().items():
        digest.update(name.encode() + tensor.cpu().numpy().tobytes())
    described = [
        archive.fingerprint,
        archive.size,
        str(backbone.scale),
        [str(view) for view in FEATURE_VIEWS[:views]],
    ]
    digest.update(json.dumps(described).encode())
    return folder / "features" / f"{digest.hexdigest()[:32]}.safetensors" if folder else None


def extract_features(backbone: Backbone, pictures: Decoded, names: Sequence[str], views: int) -> Vectors:
    """Features of the first `views` fixed views of pictures: (views, N, F)."""
    few = len(names) * views * pictures.size**2 < FEW_PIXELS
    run = _runner(backbone, pictures.size, few=few)
    rows: list[list[Vectors]] = [[] for _ in range(views)]
    with Progress(len(names) * views, unit="views", label="picture features") as bar:
        for start in range(0, len(names), FEATURE_BATCH):
            decoded = [pictures[name] for name in names[start : start + FEATURE_BATCH]]
            for number, view in enumerate(FEATURE_VIEWS[:views]):
                rows[number].append(run(backbone.scale(np.stack([view(picture) for picture in decoded]))))
                bar.advance(len(decoded))
    return np.stack([np.concatenate(parts) for parts in rows])


def _runner(backbone: Backbone, size: int, *, few: bool) -> Callable[[Vectors], Vectors]:
    """The backbone as a function: pixels (N, 3, S, S) -> features (N, F)."""
    if few:
        return lambda pixels: backbone.evaluated(torch.from_numpy(pixels)).cpu().numpy()
    session = open_session(backbone, size)
    return lambda pixels: session.run(["features"], {"pixels": pixels})[0]


def open_session(backbone: Backbone, size: int) -> onnxruntime.InferenceSession:
    """Export the backbone to an ONNX Runtime session: "pixels" (N, 3, size, size) -> "features" (N, F)."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "backbone.onnx"
        with quiet():
            torch.onnx.export(
                backbone.cpu().eval(),
                (torch.zeros(2, 3, size, size),),
                file,
                input_names=["pixels"],
                output_names=["features"],
                dynamic_shapes=({0: torch.export.Dim("pictures")},),
                dynamo=True,
                external_data=False,
                verbose=False,
            )
        return onnxruntime.InferenceSession(file.read_bytes(), options, providers=["CPUExecutionProvider"])
