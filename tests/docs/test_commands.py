"""Commands, options, files and figures in the documents, run or not, are those that there are."""

import json
import re
import shlex
from importlib import import_module
from itertools import takewhile

import click
import pytest

from passepartout import COMMANDS as SUBCOMMANDS
from tests.docs.blocks import DOCUMENTS, ROOT, Block, blocks, indented, program

TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def options(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}


def passepartout_problem(words: list[str]) -> str | None:
    if not words or words[0] not in SUBCOMMANDS:
        return None if words and words[0] in ("--help", "--version") else f"no command {words[:1]}"
    module, attribute = SUBCOMMANDS[words[0]][0].split(":")
    command: click.Command = getattr(import_module(module), attribute)
    rest = words[1:]
    while isinstance(command, click.Group):
        inner = command.get_command(click.Context(command), rest[0]) if rest else None
        if inner is None:
            return f"no command {words[0]} {rest[:1]}"
        command, rest = inner, rest[1:]
    used = {word.strip("[]").partition("=")[0] for word in rest if re.match(r"\[?-{1,2}[a-z]", word)}
    unknown = used - options(command) - {"-h", "--help"}
    return f"{command.name} has no {', '.join(sorted(unknown))}" if unknown else None


def python_problem(words: list[str]) -> str | None:
    if not words or words[0] == "-c":
        return None
    if words[0].startswith("benchmarks/"):
        return f"{words[0]} is started as a module, with -m"
    if words[0] == "-m":
        _, name, *rest = words
        module = ROOT / name.replace(".", "/")
        found = next((p for p in (module.with_suffix(".py"), module / "__main__.py") if p.exists()), None)
        if found is None:
            return None if name in ("pytest", "pip", "venv") else f"no module {name}"
        path = found
    else:
        path, rest = ROOT / words[0], words[1:]
    if not path.exists():
        return f"no {words[0]}"
    source = path.read_text("utf-8")
    unknown = [word for word in rest if word.startswith("--") and f'"{word.partition("=")[0]}"' not in source]
    return f"{path.name} has no {unknown}" if unknown else None


def problem(command: str) -> str | None:
    words = list(takewhile(lambda word: word[0] not in "<>|;&", shlex.split(command, comments=True)))
    if program(command) == "passepartout":
        return passepartout_problem(words[1:])
    if program(command) == "python":
        return python_problem(words[1:])
    if program(command) == "make":
        goals = {word for word in words[1:] if "=" not in word}
        return f"no target {goals - TARGETS}" if goals - TARGETS else None
    return None


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_exist(document: str) -> None:
    found = {
        f"{document}:{block.line}: {command}": problem(command)
        for block in [*blocks(document), *indented(document)]
        for command in block.commands
    }
    assert {where: wrong for where, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_is_to_be_typed_is_marked_as_such(document: str) -> None:
    """Blocks of commands say ```sh: they are the ones that are run (test_walks.py)."""
    unmarked = [b.line for b in blocks(document) if b.kind not in ("sh", "text", "json") and b.commands]
    assert unmarked == [], "fence these as ```sh; how to keep one from being run: tests/docs/blocks.py"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", (ROOT / document).read_text("utf-8"))
    assert [link for link in links if not (ROOT / document).parent.joinpath(link).exists()] == []


def test_checking_finds_what_does_not_exist() -> None:
    assert problem("passepartout fly") == "no command ['fly']"
    assert problem("passepartout index build --fly x") == "build has no --fly"
    assert problem("passepartout index info INDEX [--json] | head") is None
    assert problem("make fly") == "no target {'fly'}"
    assert problem("python benchmarks/words.py") == "benchmarks/words.py is started as a module, with -m"
    assert problem("python corpora/fly.py") == "no corpora/fly.py"
    assert problem("python -m benchmarks.fly") == "no module benchmarks.fly"
    assert problem("python -m benchmarks.service_latency --fly") == "service_latency.py has no ['--fly']"
    assert Block("x", 1, "sh", "passepartout train RECIPE \\\n  --out RUN\n").commands == [
        "passepartout train RECIPE --out RUN"
    ]


README = (ROOT / "README.md").read_text("utf-8")
RESULTS = (ROOT / "docs/results.md").read_text("utf-8")


def mean(bundle: str, table: str, over: str) -> str:
    """The mean CSLS R@1 of a table of a card."""
    card = (ROOT / "models" / bundle / "README.md").read_text("utf-8")
    section = re.search(rf"^### {re.escape(table)}\n(.*?)(?=^##|\Z)", card, re.MULTILINE | re.DOTALL)
    assert section, f"the card of {bundle} has no table {table}"
    found = re.search(rf"{over}: [^;]*?CSLS R@1 ([\d.]+)", section[1])
    assert found, f"the card of {bundle} does not say what {table} has {over}"
    return found[1]


def row(text: str, beginning: str) -> str:
    (line,) = [line for line in text.splitlines() if line.startswith(beginning)]
    return line


FIGURES = [
    ("| captions (Multi30k", "| `multi30k` | 20 pairs", "multi30k_test_2016", "Mean over all"),
    ("| everyday scenes", "| `scenes` | 1,880", "everyday scenes", "Mean over all"),
    ("| things people say", "| `scenes` | 326", "everyday sayings", "Mean over all"),
]


@pytest.mark.parametrize(("in_readme", "in_results", "table", "over"), FIGURES)
def test_figures_are_those_of_the_card(in_readme: str, in_results: str, table: str, over: str) -> None:
    small, open_ = (mean(bundle, table, over) for bundle in ("small", "open"))
    assert f"| {open_} | {small} |" in row(README, in_readme)
    assert f"| {small} | {open_} |" in row(RESULTS, in_results)


@pytest.mark.parametrize("bundle", ["small", "open"])
def test_results_are_of_the_shipped_version(bundle: str) -> None:
    manifest = json.loads((ROOT / "models" / bundle / "manifest.json").read_text("utf-8"))
    assert f"`{manifest['name']}@{manifest['version']}`" in row(RESULTS, "| suite |")


ROOMS = "index|evaluation|training|service|benchmarks|tests|scripts|corpora|docker|docs"
PLACEHOLDER = re.compile(r"/[A-Z]{3,}\b")
NAMED = re.compile(rf"`((?:{ROOMS})/[\w./-]*)(?:[:*][^`]*)?`")
FILE = re.compile(r"`((?:[\w-]+/)*\w+\.py)`")  # by the end of its path
MODULE = re.compile(r"python -m\s+(benchmarks(?:\.\w+)+|scripts\.\w+|service(?:\.\w+)+)")
PYTHON = [
    path.relative_to(ROOT).as_posix() for room in ROOMS.split("|") for path in (ROOT / room).rglob("*.py")
]


def missing(text: str) -> list[str]:
    """What `text` names in backticks, as a path from the root or by the end of one, that does not exist."""
    paths = {
        name for name in NAMED.findall(text) if not PLACEHOLDER.search(name) and not (ROOT / name).exists()
    }
    files = {
        name for name in FILE.findall(text) if not any(f"/{path}".endswith(f"/{name}") for path in PYTHON)
    }
    modules = {name.replace(".", "/") for name in MODULE.findall(text)}
    gone = {name for name in modules if not {f"{name}.py", f"{name}/__main__.py"} & set(PYTHON)}
    return sorted(paths | gone | files - {"passepartout.py"})


@pytest.mark.parametrize("document", DOCUMENTS)
def test_named_files_exist(document: str) -> None:
    assert missing((ROOT / document).read_text("utf-8")) == []


def test_a_file_that_is_gone_is_found() -> None:
    assert missing(
        "`index/fly.py`, `test_fly.py`, `service/api/`, `tmx.py`, `python -m\nbenchmarks.fly`"
    ) == ["benchmarks/fly", "index/fly.py", "test_fly.py"]


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text("utf-8"))
    assert sorted(listed) == sorted(path.name for path in folder.glob("0*.md"))
