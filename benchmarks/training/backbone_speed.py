"""Milliseconds a picture of a vision backbone in torch and in ONNX Runtime, one thread, side by side.

python -m benchmarks.training.backbone_speed --data DIR [--backbone weights/mobilenet_v2_1.0_224]
"""

import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click
import numpy as np
import torch

from training.encoders.features import open_session
from training.encoders.vision import load_backbone

ROUNDS = 7


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--backbone", default="weights/mobilenet_v2_1.0_224", show_default=True)
@click.option("--size", default=224, show_default=True)
def main(data: Path, backbone: str, size: int) -> None:
    """Print one JSON object: batch size -> medians and their ratio."""
    torch.set_num_threads(1)
    model = load_backbone(backbone, data).eval()
    session = open_session(model, size)
    rows = {}
    for batch in (1, 8, 32):
        pixels = np.random.default_rng(0).normal(size=(batch, 3, size, size)).astype(np.float32)
        tensor = torch.from_numpy(pixels)
        with torch.inference_mode():
            torch_ms = _median(partial(model, tensor)) / batch
        onnx_ms = _median(partial(session.run, ["features"], {"pixels": pixels})) / batch
        rows[batch] = {
            "torch_ms": round(torch_ms, 2),
            "onnxruntime_ms": round(onnx_ms, 2),
            "ratio": round(torch_ms / onnx_ms, 2),
        }
    click.echo(json.dumps(rows, indent=1))


def _median(call: Callable[[], object]) -> float:
    """Median milliseconds of a call, after one to warm up."""
    call()
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


if __name__ == "__main__":
    main()
