"""What reports are made of: paragraphs of Markdown, tables, and the command that measured."""

import shlex
from collections.abc import Iterable, Sequence

import click


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown: its first column names the rows, the others hold figures."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def page(paragraphs: Iterable[str]) -> str:
    """Paragraphs, headings and tables as one page."""
    return "\n\n".join(paragraphs) + "\n"


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
