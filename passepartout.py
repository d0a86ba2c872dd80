"""The entry point: `passepartout COMMAND`, and in Python `from passepartout import Client, Translator`.

Modules are imported only when used, so that `serve` never loads torch and `train` never loads FastAPI.
"""

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from index.errors import PassepartoutError

if TYPE_CHECKING:  # the names of EXPORTS
    from index.answers.translator import Translator as Translator
    from service.client import Client as Client

# Set before anything is loaded: idle OpenMP threads (torch's and FAISS's) must sleep, not spin; and numpy's
# BLAS multiplies small matrices only, for which threads cost ten times more than they save.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# command -> ("module:object", what it does); the object is a click command or group.
COMMANDS = {
    "translate": ("service.translate:translate", "Translate with an index or a running service."),
    "translate-file": (
        "index.commands.files:translate_file",
        "Fill a file from the translations in an index.",
    ),
    "serve": ("service.cli:serve", "Serve an index over HTTP, with a page at /."),
    "jobs": ("service.jobs.worker:jobs", "Run the index jobs that a service accepts."),
    "index": ("index.commands.index:index", "Build, change, inspect and verify an index."),
    "train": ("training.cli:train", "Train an encoder on captioned pictures."),
    "learn-language": (
        "training.cli:learn_language",
        "Teach a bundle one more language from captions, in minutes.",
    ),
    "evaluate": ("evaluation.cli:evaluate", "Measure an encoder bundle on a suite."),
    "bundle": ("passepartout:bundle", "Make, use and describe encoder bundles."),
    "reproduce": (
        "training.cli:reproduce",
        "Put a paper's claims to the test on your data, as one report.",
    ),
}
BUNDLE_COMMANDS = {
    "export": ("training.cli:export", "Turn a training run into an encoder bundle."),
    "import": (
        "training.cli:import_",
        "Turn a sentence encoder from elsewhere into an encoder bundle.",
    ),
    "card": ("evaluation.reports.card:card", "Write measured figures into a bundle's card."),
}

# A missing optional package -> the extra that brings it.
EXTRAS = {
    "faiss": "cpu",
    "onnxruntime": "cpu",
    "onnx": "train",
    "sentence_transformers": "train",
    "torch": "train",
    "transformers": "train",
    "PIL": "train",
    "babel": "formats",
    "yaml": "formats",
    "httpx2": "client",
    "ray": "ray",
    "pymilvus": "milvus",
}


# The names that `from passepartout import NAME` provides -> their modules.
EXPORTS = {"Client": "service.client", "Translator": "index.answers.translator"}


def __getattr__(name: str) -> object:
    if name not in EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(EXPORTS[name]), name)


class LazyGroup(click.Group):
    """A click group that imports the module of a command when it is used."""

    def __init__(self, *, targets: Mapping[str, tuple[str, str]], **options: Any) -> None:  # noqa: ANN401
        """Take commands as COMMANDS has them, and the options of click.Group."""
        super().__init__(**options)
        self._targets = targets

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._targets)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._targets:
            return None
        module, name = self._targets[cmd_name][0].split(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self._targets:
            raise click.exceptions.NoSuchCommand(args[0], possibilities=self._targets, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._targets.items()])


@click.command(cls=LazyGroup, targets=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="passepartout")
def cli() -> None:
    """Translate by retrieval, learned from captioned pictures."""


@click.command(cls=LazyGroup, targets=BUNDLE_COMMANDS)
def bundle() -> None:
    """Make, use and describe encoder bundles."""


def run(args: list[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 wrong use.

    Usage errors are reported as click does, all others in one line.
    """
    try:
        cli.main(args=args, prog_name="passepartout", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.Abort:
        return _fail("interrupted", 130)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help())
    except click.UsageError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        return _fail(error.format_message(), 2)
    except PassepartoutError as error:
        return _fail(str(error), error.exit_code)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        return _fail(f"{error.name} is not installed: pip install 'passepartout[{extra}]'", 1)
    except OSError as error:  # a disk that is full, a right that is missing
        return _fail(f"{error}: free space or allow access, and repeat it", 1)
    return 0


def _fail(message: str, code: int) -> int:
    click.echo(f"passepartout: {' '.join(message.split())}", err=True)
    return code


def main() -> None:
    sys.exit(run())


if __name__ == "__main__":
    main()
