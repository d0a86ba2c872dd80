"""docker/strip.py: libraries become shorter and can be loaded still."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("package", ["httptools", "tokenizers"])
def test_what_is_left_can_be_loaded(root: Path, tmp_path: Path, package: str) -> None:
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    shutil.copytree(Path(found.origin).parent, tmp_path / package)
    before = {path: path.stat().st_size for path in tmp_path.rglob("*.so")}
    subprocess.run([sys.executable, root / "docker/strip.py", tmp_path], check=True)
    assert before
    assert all(path.stat().st_size < size for path, size in before.items())
    loaded = subprocess.run(
        [sys.executable, "-c", f"import {package}; print({package}.__file__)"],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(loaded.stdout.strip()).is_relative_to(tmp_path)
