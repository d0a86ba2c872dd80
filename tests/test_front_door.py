"""The front door: commands found lazily, exit codes, errors of one line, and what importing costs."""

import json
import subprocess
import sys

import click
import pytest

import passepartout
from index.errors import CorpusError, DamagedError, PassepartoutError, TrainingError, UsageError
from passepartout import run
from tests.conftest import Says


def offer(patch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let the command `translate` fail with `error`."""

    @click.command()
    def fails() -> None:
        raise error

    patch.setattr("service.translate.translate", fails)


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["index", "fly"],
        ["bundle", "fly"],
        ["--fly"],
        ["bundle", "card", "--fly"],
        ["bundle", "card"],
    ],
)
def test_wrong_use_says_where_help_is_with_exit_2(arguments: list[str], says: Says) -> None:
    captured = says(*arguments, code=2)
    assert captured.out == ""
    assert captured.err.startswith("Usage: passepartout")
    assert "--help' for help." in captured.err
    assert "\nError: " in captured.err


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [(["tranlate", "a"], "translate"), (["index", "inf"], "info"), (["index", "info", "--jsn"], "--json")],
)
def test_the_nearest_name_is_suggested(arguments: list[str], nearest: str, says: Says) -> None:
    assert f"'{nearest}'" in says(*arguments, code=2).err.partition("Did you mean")[2]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PassepartoutError("a"), 1),
        (DamagedError("a"), 1),
        (TrainingError("a"), 1),
        (OSError(28, "No space left on device", "a"), 1),
        (UsageError("a"), 2),
        (CorpusError("a"), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_errors_of_the_house_are_one_line(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    offer(monkeypatch, error)
    assert says("translate", code=code).err.strip().splitlines()[-1].startswith("passepartout: ")


def test_a_message_of_many_lines_becomes_one(monkeypatch: pytest.MonkeyPatch, says: Says) -> None:
    offer(monkeypatch, PassepartoutError("one\n  two\r\nthree"))
    assert says("translate", code=1).err == "passepartout: one two three\n"


@pytest.mark.parametrize(
    ("module", "extra"), [("faiss", "cpu"), ("torch", "train"), ("onnxruntime.capi", "cpu")]
)
def test_a_missing_package_is_named_with_its_extra(
    module: str, extra: str, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    offer(monkeypatch, ModuleNotFoundError(f"No module named {module!r}", name=module))
    assert f"pip install 'passepartout[{extra}]'" in says("translate", code=1).err


@pytest.mark.parametrize("error", [ModuleNotFoundError("x", name="nonsense"), ValueError("a bug")])
def test_bugs_are_not_hidden(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, error)
    with pytest.raises(type(error)):
        run(["translate"])


def test_the_command_is_installed_and_exits_with_the_code() -> None:
    command = [sys.executable, passepartout.__file__, "index", "info", "/nowhere"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "passepartout: /nowhere is not an index: build one with `passepartout index build`\n"
    )


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        (
            "import index.build.build_index, index.commands.index",
            "torch transformers onnx scipy training evaluation",
        ),
        ("import index.answers.translator", "icu4py"),  # nor training: tests/service/test_app.py
        ("import training.cli", "torch"),
        (
            "import service.client, service.translate",
            "fastapi starlette faiss onnxruntime numpy tokenizers pyarrow",
        ),
        ("import index.commands.index, passepartout", "faiss onnxruntime numpy pyarrow tokenizers pydantic"),
    ],
)
def test_nothing_heavy_is_imported_that_is_not_needed(statement: str, heavy: str) -> None:
    code = f"{statement}; import json, sys; print(json.dumps([name.split('.')[0] for name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(json.loads(done.stdout.splitlines()[-1])) & set(heavy.split())
