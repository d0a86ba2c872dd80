"""Frozen picture features: one forward pass a view, through ONNX Runtime, kept in the user's cache.

On a CPU, ONNX Runtime runs MobileNetV2 about four times as fast as torch (benchmarks/backbone_speed.py).
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from index.errors import TrainingError
from index.files import cache_folder
from index.progress import Progress
from training.data.pictures import PictureArchive
from training.data.views import VIEWS
from training.encoders.vision import Backbone, PixelScale
from training.quiet import quiet

BATCH = 8  # larger batches fall out of the cache


def features_of_views(
    backbone: Backbone, archive: PictureArchive, pictures: Sequence[str], views: int, threads: int
) -> NDArray[np.float32]:
    """(views, N, F) features of the first `views` fixed views of each picture.

    They are kept in the user's cache, under a name that depends on the weights, pictures and views, so that
    runs with other seeds or objectives do not compute them again.
    """
    folder = cache_folder()
    key = _key(backbone, archive, pictures, views)
    file = folder / "features" / f"{key[:32]}.safetensors" if folder else None
    if file and (kept := _kept(file)) is not None:
        return kept
    features = _extract(backbone, archive, pictures, views, threads)
    if not np.isfinite(features).all():
        raise TrainingError("the backbone gives features that are not finite; check its weights")
    if file:
        _keep(features, file)
    return features


def _kept(file: Path) -> NDArray[np.float32] | None:
    try:
        return load_file(file)["features"]
    except (OSError, SafetensorError, KeyError):
        return None  # none yet, or damaged: computed again


def _keep(features: NDArray[np.float32], file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        save_file({"features": features}, part)
        part.replace(file)
    except (OSError, SafetensorError):
        pass  # a full or read-only cache costs time next time, no more


def _key(backbone: Backbone, archive: PictureArchive, pictures: Sequence[str], views: int) -> str:
    digest = hashlib.sha256()
    for name, tensor in backbone.state_dict().items():
        digest.update(name.encode() + tensor.cpu().numpy().tobytes())
    described = [list(pictures), archive.places(pictures), views, archive.size]
    described.append([str(view) for view in VIEWS[:views]])
    digest.update(json.dumps([*described, str(backbone.scale)]).encode())
    return digest.hexdigest()


def _extract(
    backbone: Backbone, archive: PictureArchive, pictures: Sequence[str], views: int, threads: int
) -> NDArray[np.float32]:
    session = open_session(backbone, archive.size, threads)
    rows: list[list[NDArray[np.float32]]] = [[] for _ in range(views)]
    with Progress(len(pictures) * views, unit="views", label="picture features") as bar:
        for start in range(0, len(pictures), BATCH):
            decoded = [archive[name] for name in pictures[start : start + BATCH]]
            for number, view in enumerate(VIEWS[:views]):
                seen = np.stack([view(picture) for picture in decoded])
                rows[number].append(_run(session, backbone.scale, seen))
                bar.advance(len(decoded))
    return np.stack([np.concatenate(parts) for parts in rows])


def _run(
    session: onnxruntime.InferenceSession, scale: PixelScale, pictures: NDArray[np.uint8]
) -> NDArray[np.float32]:
    out: NDArray[np.float32] = session.run(["features"], {"pixels": scale(pictures)})[0]
    return out


def open_session(backbone: Backbone, size: int, threads: int) -> onnxruntime.InferenceSession:
    """The backbone as an ONNX Runtime session: "pixels" (N, 3, size, size) -> "features" (N, F)."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
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
