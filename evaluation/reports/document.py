"""Documents as lists of blocks, written as Markdown."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from index.errors import UsageError
from index.storage.files import replace_text


@dataclass(frozen=True)
class Heading:
    level: int
    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph, or with `listed` a list of items."""

    items: tuple[str, ...]
    listed: bool = False


@dataclass(frozen=True)
class Code:
    text: str


@dataclass(frozen=True)
class Grid:
    """A table: its first column names the rows, the others hold figures."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


Block = Heading | Text | Code | Grid


def text(*lines: str) -> Text:
    """Make one paragraph of `lines`, joined by spaces."""
    return Text((" ".join(lines),))


def running_command() -> str:
    """The `passepartout` command in progress with its options, but for flags, quoted for a shell."""
    context = click.get_current_context()
    words = ["passepartout", *context.command_path.removeprefix("passepartout").split()]
    for parameter in context.command.params:
        value = context.params[parameter.name or ""]
        values = value if isinstance(value, tuple) else (value,)
        for item in (item for item in values if item not in (None, "") and not isinstance(item, bool)):
            word = f"{item:g}" if isinstance(item, float) else str(item)
            words += [word] if isinstance(parameter, click.Argument) else [parameter.opts[0], word]
    return shlex.join(words)


def as_markdown(blocks: Iterable[Block]) -> str:
    """Format blocks as Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write name -> content into `folder`, each file whole or not at all.

    Raises UsageError if `folder` is not writable.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            replace_text(folder / name, content)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror}): give another --out") from error


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, words):
            return f"{'#' * level} {words}"
        case Text(items, listed):
            return "\n".join(f"- {item}" for item in items) if listed else "\n".join(items)
        case Code(words):
            return f"```\n{words}\n```"
        case Grid(head, rows):
            lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
            return "\n".join(
                f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines
            )
