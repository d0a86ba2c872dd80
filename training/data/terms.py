"""Licences of the data: those that a folder states, and those of the sources that this project knows.

A set states its terms in `SET/set.toml`, a text in `text/NAME.toml` (docs/data.md); where there is no such
file, `sources.toml` beside this module is asked. A set that is used as a text has the terms of the set.
"""

import tomllib
from importlib import resources
from pathlib import Path

from pydantic import Field, ValidationError

from index.errors import DataError
from index.frozen import Frozen, first_error
from training.data.settings import DataSettings

SETS, TEXTS = "sets", "texts"


class Terms(Frozen):
    """The terms of a set or of a text.

    title: what it is. licence: its licence. open: whether that is an open licence under which weights that
    learned from it may be shipped. credits: who is to be credited. credits_file: a TSV file of the set whose
    last column has further names, separated by commas.
    """

    title: str = Field(min_length=1)
    licence: str = Field(min_length=1)
    open: bool = False
    credits: tuple[str, ...] = ()
    credits_file: str = Field(default="", pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$|^$")


def data_terms(data: Path, settings: DataSettings) -> dict[str, Terms]:
    """The terms of all that a recipe trains on, by name; those that nobody states are not open.

    DataError for a malformed file.
    """
    terms = {name: _terms(data / name / "set.toml", SETS, name) for name in settings.sets}
    for name in settings.texts:
        if name in terms or (data / name / "splits.tsv").is_file():
            terms[name] = _terms(data / name / "set.toml", SETS, name)
        else:
            terms[f"text/{name}"] = _terms(data / "text" / f"{name}.toml", TEXTS, name)
    return terms


def require_open(data: Path, settings: DataSettings) -> None:
    """DataError if the recipe asks for open licences and a set or text has none."""
    if not settings.open_licences:
        return
    for name, terms in data_terms(data, settings).items():
        if not terms.open:
            raise DataError(
                f"{name} is not openly licensed ({terms.licence}): change data.sets, data.texts or "
                "data.open_licences"
            )


def _terms(file: Path, kind: str, name: str) -> Terms:
    if file.is_file():
        terms = _parse(file)
    else:
        known = tomllib.loads((resources.files("training.data") / "sources.toml").read_text("utf-8"))
        table = known[kind].get(name)
        terms = Terms.model_validate(table) if table else Terms(title=name, licence="none stated")
    credited = file.parent / terms.credits_file
    if terms.credits_file and credited.is_file():
        rows = [line.split("\t") for line in credited.read_text("utf-8").splitlines() if line]
        names = {name.strip() for row in rows for name in row[-1].split(",")}
        return terms.model_copy(update={"credits": (*terms.credits, *sorted(filter(None, names)))})
    return terms


def _parse(file: Path) -> Terms:
    try:
        return Terms.model_validate(tomllib.loads(file.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"{file} can't be read: {error}") from None
    except ValidationError as error:
        raise DataError(f"{file}: {first_error(error)}") from None
