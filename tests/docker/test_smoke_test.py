"""What can be tried of docker/smoke-test without an engine."""

import os
import subprocess
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["smoke-test", "index-job"])
def test_scripts_may_be_run_and_parse(root: Path, name: str) -> None:
    script = root / "docker" / name
    assert os.access(script, os.X_OK)
    shell = script.read_text("utf-8").splitlines()[0].removeprefix("#!").split()
    parsed = subprocess.run([*shell, "-n", script], capture_output=True, text=True, check=False)
    assert parsed.returncode == 0, parsed.stderr
