"""What importing the index costs: never torch, and for a command's help not even FAISS."""

import json
import subprocess
import sys


def modules_after(statement: str) -> set[str]:
    code = f"{statement}; import json, sys; print(json.dumps([name.split('.')[0] for name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_index_needs_no_training() -> None:
    heavy = {"torch", "transformers", "onnx", "training", "evaluation", "scipy"}
    assert not modules_after("import index.build.build_index, index.commands.index") & heavy


def test_a_translator_does_not_load_the_segmenter() -> None:
    """What translates needs no training either: tests/service/test_app.py."""
    assert "icu4py" not in modules_after("import index.answers.translator")


def test_the_commands_are_cheap_to_list() -> None:
    heavy = {"faiss", "onnxruntime", "numpy", "pyarrow", "tokenizers", "pydantic"}
    assert not modules_after("import index.commands.index, passepartout") & heavy
