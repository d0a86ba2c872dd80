"""Ways to damage a folder that has a manifest, and the parsers that must never see what was damaged."""

import contextlib
import os
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

WRITABLE = 0o644  # published files are not


def flip_middle(path: Path) -> None:
    """Change a bit of the byte there."""
    path.chmod(WRITABLE)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def truncate(path: Path) -> None:
    path.chmod(WRITABLE)
    os.truncate(path, path.stat().st_size - 1)


def empty(path: Path) -> None:
    path.chmod(WRITABLE)
    os.truncate(path, 0)


def append(path: Path) -> None:
    path.chmod(WRITABLE)
    with path.open("ab") as file:
        file.write(b"x")


def link(path: Path) -> None:
    """A link to the very same content is refused too: what it points to is not under our checksum."""
    outermost = [parent for parent in path.parents if (parent / "manifest.json").exists()][-1]
    moved = outermost.parent / f"moved-{path.name}"
    shutil.copy2(path, moved)
    path.unlink()
    path.symlink_to(moved)


def fill_with_zeros(path: Path) -> None:
    size = path.stat().st_size
    empty(path)
    os.truncate(path, size)


DAMAGE: tuple[Callable[[Path], None], ...] = (
    flip_middle,
    truncate,
    empty,
    append,
    link,
    fill_with_zeros,
    Path.unlink,
)


@contextlib.contextmanager
def longest_file(size: int) -> Iterator[None]:
    """Let no file of this process become longer than `size`: as on a full disk, writing fails."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextlib.contextmanager
def no_parsing(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail if FAISS, ONNX Runtime, tokenizers, Arrow, numpy or safetensors is given a file."""
    import faiss
    import numpy as np
    import onnxruntime
    import pyarrow as pa

    from index.encoder import pictures, tokenizer
    from index.storage import tables as texts

    def refuse(*args: object, **_: object) -> None:
        pytest.fail(f"a damaged folder was parsed: {args}")

    with patch.context() as context:
        context.setattr(faiss, "read_index", refuse)
        context.setattr(onnxruntime, "InferenceSession", refuse)
        context.setattr(tokenizer, "_open", refuse)
        context.setattr(pictures, "load_file", refuse)
        context.setattr(pa.ipc, "open_file", refuse)
        context.setattr(np, "load", refuse)
        context.setattr(texts.np, "load", refuse)
        yield
