"""Problem documents, as RFC 9457 defines them."""

from pydantic import BaseModel, Field

ERRORS_SHOWN = 20  # a request of 256 bad texts needs no 256 explanations


class FieldError(BaseModel):
    """What is wrong with one field of the request, and what to change."""

    field: str = Field(description="The field, with its position in a list.", examples=["text[3]"])
    message: str = Field(description="What is wrong and what to change.")
    limit: float | int | None = Field(default=None, description="The limit that was exceeded, if any.")
    allowed: list[str] | None = Field(
        default=None, description="The allowed values, where they can be listed."
    )
    candidates: list[str] | None = Field(
        default=None,
        description="Where a text's language is not clear: the codes of those it may be in, likeliest first.",
    )


class Problem(BaseModel):
    """An RFC 9457 problem document."""

    type: str = Field(
        description="Which problem, as a relative reference.", examples=["/problems/invalid-request"]
    )
    title: str = Field(examples=["Invalid request"])
    status: int = Field(examples=[422])
    detail: str = Field(
        description="What is wrong with this request and what to change.",
        examples=["k is 51, the limit is 50: lower it"],
    )
    request_id: str | None = Field(
        default=None,
        description="The id of this request in the log and in the header X-Request-ID.",
        examples=["4f1c0d9be2a86357"],
    )
    errors: list[FieldError] | None = Field(
        default=None, description=f"The fields at fault, the first {ERRORS_SHOWN}.", examples=[None]
    )
