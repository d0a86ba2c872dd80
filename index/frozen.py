"""Frozen: the base of what is stored or sent as JSON, and what is wrong with a document that is none."""

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError


class Frozen(BaseModel):
    """A model that does not change once it is made, and refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a JSON document; ValueError for a key that is given twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key is repeated")
    return values


def first_error(error: ValidationError) -> str:
    """Where the first error is, and what it is: `languages.0.code: Field required`."""
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
