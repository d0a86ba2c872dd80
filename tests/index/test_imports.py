"""What importing the index costs: never torch, and for a command's help not even FAISS."""

import json
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        (
            "import index.build.build_index, index.commands.index",
            "torch transformers onnx scipy training evaluation",
        ),
        ("import index.answers.translator", "icu4py"),  # nor training: tests/service/test_app.py
        ("import index.commands.index, passepartout", "faiss onnxruntime numpy pyarrow tokenizers pydantic"),
    ],
)
def test_nothing_heavy_is_imported_that_is_not_needed(statement: str, heavy: str) -> None:
    code = f"{statement}; import json, sys; print(json.dumps([name.split('.')[0] for name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(json.loads(done.stdout.splitlines()[-1])) & set(heavy.split())
