"""Recipes as files: TOML, where one recipe may extend another.

    extends = "globetrotter-mini"            a shipped recipe's name, or a file beside this one
    without = ["objectives.transitive"]      keys of the extended recipe to leave out
    name = "no-transitive"
    description = "..."

The file's tables are merged into the extended recipe's; lists and values are replaced whole. `name` and
`description` are never inherited.

The papers' recipes are in their rooms, the packages in training/papers: in the folder `recipes` of each. The
files of a room register its objectives and encoders under the names that recipes use when they are imported,
so that nothing outside the rooms names one.
"""

import tomllib
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from index.errors import RecipeError

TomlTable = dict[str, Any]
EXTENDS, WITHOUT = "extends", "without"
NOT_INHERITED = ("name", "description")


PAPERS = "training.papers"
CORE = ("training.encoders", "training.objectives")


def open_rooms() -> None:
    """Import every file of the rooms, the core's too, so that all objectives and encoders are registered."""
    papers = (module for module in iter_modules(import_module(PAPERS).__path__, f"{PAPERS}.") if module.ispkg)
    for room in (*CORE, *(paper.name for paper in papers)):
        for module in iter_modules(import_module(room).__path__, f"{room}."):
            import_module(module.name)


def shipped_recipes() -> dict[str, Path]:
    """Name -> file of the recipes that come with the package, the papers' among them."""
    papers = (Path(folder) for folder in import_module(PAPERS).__path__)
    files = [*Path(__file__).parent.glob("*.toml")]
    files += (file for folder in papers for file in sorted(folder.glob("*/recipes/*.toml")))
    return {file.stem: file for file in sorted(files, key=lambda file: file.stem)}


def papers() -> dict[str, Path]:
    """Name -> file of the claims of the papers that have some."""
    folders = [Path(folder) for folder in import_module(PAPERS).__path__]
    return {file.parent.name: file for folder in folders for file in sorted(folder.glob("*/claims.toml"))}


def read_recipe(name: str) -> TomlTable:
    """Read the recipe of that name or path, laid over those that it extends. Raises RecipeError."""
    shipped = shipped_recipes()
    file = shipped.get(name, Path(name))
    if not file.is_file():
        raise RecipeError(f"no recipe {name}; give a TOML file or one of {', '.join(shipped)}")
    return _extended(name, file, ())


def _extended(name: str, file: Path, above: tuple[Path, ...]) -> TomlTable:
    """The table of `file`; `above` are the files that led to it."""
    file = file.resolve()
    if file in above:
        circle = " extends ".join(recipe.stem for recipe in (*above[above.index(file) :], file))
        raise RecipeError(f"recipe {name}: {circle}: a recipe can't extend itself")
    table = _parse(name, file)
    base, without = table.pop(EXTENDS, None), table.pop(WITHOUT, None)
    if base is None:
        if without is not None:
            raise RecipeError(f"recipe {name}: without needs extends")
        return table
    if not isinstance(base, str):
        raise RecipeError(f"recipe {name}: extends: give one recipe's name or file")
    inherited = _extended(base, _base_file(name, base, file), (*above, file))
    for key in _paths(name, without):
        _leave_out(inherited, key, name, base)
    for key in NOT_INHERITED:
        inherited.pop(key, None)
    return merged(inherited, table)


def _parse(name: str, file: Path) -> TomlTable:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"recipe {name} can't be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"recipe {name} is not valid TOML: {error}") from None


def _base_file(name: str, base: str, file: Path) -> Path:
    shipped = shipped_recipes()
    base_file = shipped.get(base, file.parent / base)
    if not base_file.is_file():
        raise RecipeError(
            f"recipe {name}: extends {base}, which is no file beside it and none of {', '.join(shipped)}"
        )
    return base_file


def _paths(name: str, without: object) -> list[str]:
    if without is None:
        return []
    if not isinstance(without, list) or not all(isinstance(key, str) for key in without):
        raise RecipeError(f"recipe {name}: without: give a list of keys, as in ['objectives.cloze']")
    return without


def _leave_out(table: TomlTable, key: str, name: str, base: str) -> None:
    *path, last = key.split(".")
    inner: object = table
    for part in path:
        inner = inner.get(part) if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or last not in inner:
        raise RecipeError(f"recipe {name}: without {key}, which {base} does not have")
    del inner[last]


def merged(base: TomlTable, over: TomlTable) -> TomlTable:
    """Merge `over` into a copy of `base`: tables merge, everything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        inner = result.get(key)
        tables = isinstance(inner, dict) and isinstance(value, dict)
        result[key] = merged(inner, value) if tables else value  # type: ignore[arg-type]
    return result
