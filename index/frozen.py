"""Frozen: the base of what is stored or sent as JSON, and what is wrong with a document that is none."""

from pydantic import BaseModel, ConfigDict, ValidationError


class Frozen(BaseModel):
    """A model that does not change once it is made, and refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def first_error(error: ValidationError) -> str:
    """Where the first error is, and what it is: `languages.0.code: Field required`."""
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
