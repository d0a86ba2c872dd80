"""Licences of the data: those that a folder states, and those of the sources that this project knows.

A set states its terms in `SET/set.toml`, a text in `text/NAME.toml` (docs/data.md); where there is no such
file, `sources.toml` beside this module is asked. A set that is used as a text has the terms of the set.
"""

import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from pydantic import Field, ValidationError

from index.encoder.lineage import TrainingSource
from index.errors import DataError
from index.frozen import first_error
from training.data.settings import DataSettings


class Terms(TrainingSource):
    """The terms of a set or of a text, as they are stated.

    credits_file: a TSV file of the set whose last column has further names, separated by commas.
    """

    credits_file: str = Field(default="", pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$|^$")


def data_terms(data: Path, settings: DataSettings) -> dict[str, TrainingSource]:
    """The terms of all that a recipe trains on, by name; those that nobody states are not open.

    DataError for a malformed file.
    """
    sets = [*settings.sets, *(name for name in settings.texts if (data / name / "splits.tsv").is_file())]
    files = {name: data / name / "set.toml" for name in sets}
    files |= {f"text/{name}": data / "text" / f"{name}.toml" for name in settings.texts if name not in files}
    return {name: _terms(name, file) for name, file in files.items()}


def require_open(sources: Mapping[str, TrainingSource], settings: DataSettings) -> None:
    """DataError if the recipe asks for open licences and one of the sources has none."""
    closed = [name for name, source in sources.items() if not source.open]
    if settings.open_licences and closed:
        raise DataError(
            f"{closed[0]} is not openly licensed ({sources[closed[0]].licence}): change data.sets, "
            "data.texts, text.start or data.open_licences"
        )


def _terms(name: str, file: Path) -> TrainingSource:
    try:
        if file.is_file():
            stated = tomllib.loads(file.read_text("utf-8"))
        else:
            known = tomllib.loads((resources.files("training.data") / "sources.toml").read_text("utf-8"))
            stated = known.get(name, {"title": name.removeprefix("text/"), "licence": "none stated"})
        terms = Terms.model_validate(stated)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"{file} can't be read: {error}") from None
    except ValidationError as error:
        raise DataError(f"{file}: {first_error(error)}") from None
    credited, names = file.parent / terms.credits_file, set()
    if terms.credits_file and credited.is_file():
        rows = [line.split("\t") for line in credited.read_text("utf-8").splitlines() if line]
        names = {name.strip() for row in rows for name in row[-1].split(",")} - {""}
    shared = terms.model_dump(exclude={"credits_file"})
    return TrainingSource.model_validate(shared | {"credits": (*terms.credits, *sorted(names))})
