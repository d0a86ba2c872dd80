"""Documents as lists of blocks, written as Markdown with picture files or as one self-contained HTML file."""

import html
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from index.errors import UsageError
from index.storage.files import replace_text

STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
div.wide { overflow-x: auto }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { border: 1px solid #8886; padding: .25rem .6rem; text-align: right }
th:first-child, td:first-child { text-align: left }
pre { overflow-x: auto; background: #8882; padding: .6rem }
figure { margin: 1rem 0; background: #fff; color: #000; overflow-x: auto }
figcaption { padding: .3rem .6rem }
"""


@dataclass(frozen=True)
class Heading:
    level: int
    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph, or with `items` a list; `code` and **strong** are marked as in Markdown."""

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


@dataclass(frozen=True)
class Picture:
    """An SVG drawing; `name` is its file beside a Markdown document."""

    name: str
    title: str
    svg: str


Block = Heading | Text | Code | Grid | Picture


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
    """Format blocks as Markdown; pictures are links to their files."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def as_html(title: str, blocks: Iterable[Block]) -> str:
    """Format blocks as a self-contained HTML page."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{_inline(title)}'
    body = "\n".join(_html(block) for block in blocks)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}</title><style>{STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )


def write(folder: Path, files: dict[str, str], blocks: Iterable[Block]) -> None:
    """Write name -> content and the pictures of `blocks` into `folder`, each file whole or not at all.

    Raises UsageError if `folder` is not writable.
    """
    pictures = {block.name: block.svg for block in blocks if isinstance(block, Picture)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in (pictures | files).items():
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
            return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)
        case Picture(name, title, _):
            return f"![{title}]({name})"


def _cell(words: str) -> str:
    return words.replace("|", "\\|")


def _html(block: Block) -> str:
    match block:
        case Heading(level, words):
            return f"<h{level}>{_inline(words)}</h{level}>"
        case Text(items, True):
            return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ul>"
        case Text(items, _):
            return "<p>" + "<br>".join(map(_inline, items)) + "</p>"
        case Code(words):
            return f"<pre>{html.escape(words)}</pre>"
        case Grid(head, rows):
            return (
                '<div class="wide"><table>'
                + _line("th", head)
                + "".join(_line("td", row) for row in rows)
                + "</table></div>"
            )
        case Picture(_, title, svg):
            drawing = svg[svg.index("<svg") :]  # an XML declaration has no place inside HTML
            return f"<figure>{drawing}<figcaption>{_inline(title)}</figcaption></figure>"


def _line(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{_inline(cell)}</{tag}>" for cell in cells) + "</tr>"


def _inline(words: str) -> str:
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(words))
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", marked)
