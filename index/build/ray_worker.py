"""What a Ray worker does with a shard: what a process of this machine would (encoding.Worker).

The encoder travels through Ray's object store, as files that the worker checks like any bundle, so that
workers need no folder in common with whoever builds: only the same software.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy
import onnxruntime
import tokenizers

from index.build.encoding import Encoded, Worker
from index.encoder.bundle import Bundle, open_bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import PassepartoutError
from index.storage.manifest import NAME
from index.text.identification import Detector


@dataclass(frozen=True)
class Setup:
    """What a worker needs to encode: the files of the bundle by name; `software` as it must have it."""

    files: dict[str, bytes]
    detector: Detector
    batch_size: int
    software: dict[str, str]

    @classmethod
    def of(cls, bundle: Bundle, detector: Detector, batch_size: int) -> "Setup":
        names = (NAME, *bundle.manifest.files)
        files = {name: (bundle.folder / name).read_bytes() for name in names}
        return cls(files, detector, batch_size, software())


def software() -> dict[str, str]:
    """The versions that must be the same everywhere, or vectors would differ."""
    modules = {module.__name__: str(module.__version__) for module in (numpy, onnxruntime, tokenizers)}
    return {"passepartout": version("passepartout"), **modules}


_workers: dict[str, Worker] = {}  # at most one


def encode(setups: Sequence[Any], key: str, code: str, texts: Sequence[str], judged: bool) -> Encoded:
    """`Worker.encode`; `setups` holds Ray's reference to the setup of build `key`, fetched once a process."""
    if key not in _workers:
        import ray  # the caller runs in it

        _workers.clear()
        _workers[key] = prepare(ray.get(setups[0]))
    return _workers[key].encode(code, texts, judged)


def prepare(setup: Setup) -> Worker:
    """A worker of this process. PassepartoutError where its software is not that of whoever builds."""
    for name, there in software().items():
        if there != setup.software[name]:
            raise PassepartoutError(
                f"a Ray worker has {name} {there}, this machine {setup.software[name]}: "
                "install the same versions on both, or vectors would differ"
            )
    with TemporaryDirectory(prefix="passepartout-") as folder:
        for name, content in setup.files.items():
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        return Worker(TextEncoder(open_bundle(Path(folder))), setup.detector, setup.batch_size)
