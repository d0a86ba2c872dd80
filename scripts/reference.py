"""Writes docs/reference/ from the code: settings, commands, recipes, errors, Python client.

    make reference

Each page is a function here; `tests/docs/test_reference.py` fails where one is not what its function makes.
In settings.md the sentences between the tables are written by hand, and its rows by this.
"""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel

from index import errors
from passepartout import COMMANDS
from service import client
from service.app import create_app
from service.http.problems import ProblemType
from service.settings import ENVIRONMENT_PREFIX, Settings
from training.encoders.base import ENCODERS
from training.objectives.base import OBJECTIVES
from training.recipes.files import open_rooms
from training.recipes.recipe import Recipe

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
GENERATED = "<!-- Written by `make reference` from the code: change that, not this. -->"
Schema = dict[str, Any]


def cell(value: object) -> str:
    """Text as it may stand in a table."""
    return " ".join(str(value).replace("|", "\\|").split())


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    head = list(head)
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(cell(value) for value in row)} |"
    yield ""


def settings() -> str:
    rows = []
    for name, field in Settings.model_fields.items():
        default = "none" if field.default is None else f"`{field.default}`"
        rows.append((f"`{ENVIRONMENT_PREFIX}{name.upper()}`", default, field.description))
    parts = ["# Settings of the service", "", GENERATED, "", inspect.cleandoc(Settings.__doc__ or ""), ""]
    return "\n".join([*parts, *table(("Variable", "Default", ""), rows)])


def openapi() -> str:
    return json.dumps(create_app(Settings()).openapi(), indent=2, ensure_ascii=False) + "\n"


def kind(schema: Schema) -> str:
    """What a JSON schema allows, in words."""
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(map(kind, options)))
    if "allOf" in schema:
        return kind(schema["allOf"][0])
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    name = {"null": "none"}.get(str(schema.get("type", "any")), str(schema.get("type", "any")))
    if name == "array":
        return f"array of {kind(schema.get('items', {}))}{_bounds(schema)}"
    return name + _bounds(schema)


BOUNDS = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
    "minLength": "{} characters or more",
    "maxLength": "at most {} characters",
    "minItems": "{} or more",
    "maxItems": "at most {}",
    "pattern": "`{}`",
}


def _bounds(schema: Schema) -> str:
    bounds = [text.format(schema[key]) for key, text in BOUNDS.items() if key in schema]
    return f" ({', '.join(bounds)})" if bounds else ""


def _default(name: str, schema: Schema, needed: Iterable[str]) -> str:
    if name in needed:
        return "needed"
    default = schema.get("default")
    if default is None or isinstance(default, dict):
        return ""
    return f"`{json.dumps(default, ensure_ascii=False)}`"


def _model(schema: Schema) -> Iterator[str]:
    """A JSON schema of an object: what is said of it, and its fields."""
    if text := schema.get("description"):
        yield from _prose(text)
    if fields := schema.get("properties"):
        needed = schema.get("required", ())
        rows = [
            (f"`{name}`", kind(field), _default(name, field, needed), field.get("description", ""))
            for name, field in fields.items()
        ]
        described = any(row[3] for row in rows)
        head = ("field", "", "default", "")
        yield from table(head if described else head[:3], (row if described else row[:3] for row in rows))
    elif "enum" in schema or "type" in schema:
        yield f"{kind(schema)}."
        yield ""


def _prose(text: str) -> Iterator[str]:
    """A docstring, as it is written: equations and all."""
    yield from ("```text", inspect.cleandoc(text), "```", "")


def commands() -> str:
    parts = ["# Commands", "", GENERATED, ""]
    parts += ["Exit status: 0 done, 1 failed, 2 wrong use. Each takes `--help`.", ""]
    for name, (target, _) in COMMANDS.items():
        module, attribute = target.split(":")
        parts += _command(f"passepartout {name}", getattr(import_module(module), attribute))
    return "\n".join(parts)


def _command(name: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=name)
    yield f"## {name}"
    yield ""
    yield from (f"`{' '.join([name, *command.collect_usage_pieces(context)])}`", "")
    for paragraph in inspect.cleandoc(command.help or "").replace("\b", "").split("\n\n"):
        yield from (" ".join(paragraph.split()), "")
    rows = [_option(option, context) for option in command.params if isinstance(option, click.Option)]
    if rows:
        yield from table(("option", "", "default"), rows)
    if isinstance(command, click.Group):
        for command_name in command.list_commands(context):
            inner = command.get_command(context, command_name)
            if inner is not None:
                yield from _command(f"{name} {command_name}", inner)


def _option(option: click.Option, context: click.Context) -> tuple[str, str, str]:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" {option.make_metavar(context)}"
    # Its help says what a default that depends on the machine is.
    shown = option.show_default and option.default is not None and not callable(option.default)
    default = f"`{option.default}`" if shown else "needed" if option.required else ""
    text = option.help or ""
    if option.multiple and not re.search("(?i)often|repeatable", text):
        text += " As often as wanted."
    return f"{names}{value}", text, default


def recipes() -> str:
    schema = Recipe.model_json_schema()
    made = schema["$defs"]
    open_rooms()
    parts = ["# Recipes", "", GENERATED, ""]
    parts += [
        "A recipe is TOML; `training/recipes/` has the shipped ones, and each paper its own in",
        "its folder of `training/papers/`. Every key can be set from the command:",
        "`--set optimiser.epochs=10`. A key that is not here, or a value out of bounds, is refused.",
        "",
    ]
    fields = schema["properties"].items()
    plain = {name: field for name, field in fields if name != "text" and not _tables(field, made)}
    top = schema | {"properties": plain, "description": ""}
    parts += ["## A recipe", "", *_model(top)]
    for name, field in fields:
        for model in _tables(field, made):
            parts += [f"## `[{name}]`", "", *_model(made[model])]
        if name == "text":
            for encoder, settings in sorted(ENCODERS.items()):
                parts += [f'## `[text]`, encoder = "{encoder}"', "", *_model(settings.model_json_schema())]
    for name, objective in sorted(OBJECTIVES.items()):
        parts += [f"## `[objectives.{name}]`", "", *_model(_objective(objective))]
    return "\n".join(parts)


def _tables(field: Schema, made: Schema) -> list[str]:
    """The models that a field of a recipe may be."""
    names = re.findall(r"#/\$defs/(\w+)", json.dumps(field))
    registered = ("Objective", "EncoderSettings")
    return [name for name in dict.fromkeys(names) if name not in registered and "properties" in made[name]]


def _objective(objective: type[BaseModel]) -> Schema:
    said = inspect.getdoc(objective) if objective.__doc__ else None
    module = inspect.getmodule(objective)
    return objective.model_json_schema() | {"description": said or inspect.getdoc(module) or ""}


def problems() -> str:
    parts = ["# Errors", "", GENERATED, "", "## Of commands", ""]
    parts += ["An error is one line on standard error; the exit status is that of its kind.", ""]
    parts += _prose(errors.__doc__ or "")
    parts += ["## Of the service", ""]
    parts += [
        "Problem documents (RFC 9457), `application/problem+json`, with `type` `/problems/` and this:",
        "",
    ]
    parts += table(
        ("type", "status", "title", "detail"),
        ((f"`{problem.slug}`", problem.status, problem.title, problem.meaning) for problem in ProblemType),
    )
    return "\n".join(parts)


def python_client() -> str:
    parts = ["# Python client", "", GENERATED, "", "`pip install 'passepartout[client]'`", ""]
    parts += _prose(client.__doc__ or "")
    for name, client_class in inspect.getmembers(client, inspect.isclass):
        if client_class.__module__ == client.__name__:
            parts += _class(name, client_class)
    return "\n".join(parts)


def _class(name: str, client_class: type) -> Iterator[str]:
    yield f"## {name}"
    yield ""
    if text := client_class.__doc__ and inspect.getdoc(client_class):
        yield from _prose(text)
    fields = inspect.get_annotations(client_class)
    if fields:
        yield from table(
            ("field", ""),
            ((f"`{member}`", f"`{inspect.formatannotation(of)}`") for member, of in fields.items()),
        )
    methods = [
        (f"`{member}{_signature(method)}`", (inspect.getdoc(method) or "").split("\n\n")[0])
        for member, method in inspect.getmembers(client_class, inspect.isfunction)
        if not member.startswith("_") and not method.__module__.startswith("pydantic")
    ]
    if methods:
        yield from table(("method", ""), methods)


def _signature(method: Callable[..., object]) -> str:
    text = re.sub(r"\*<class '([\w.]+)'>", r"Unpack[\1]", str(inspect.signature(method)))
    text = re.sub(r"(?<!\w)(?:[a-z_]\w*\.)+(?=[A-Z])", "", text)
    return text.replace("(self, ", "(").replace("(self)", "()")


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings,
    "openapi.json": openapi,
    "commands.md": commands,
    "recipes.md": recipes,
    "errors.md": problems,
    "client.md": python_client,
}


@click.command()
def main() -> None:
    """Write every page of docs/reference/."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), "utf-8")
        click.echo(FOLDER / name)


if __name__ == "__main__":
    main()
