"""Problem documents, as RFC 9457 defines them."""

from pydantic import BaseModel, Field

ERRORS_SHOWN = 20  # a request of 256 bad texts needs no 256 explanations


class FieldError(BaseModel):
    """What is wrong with one field of the request, and what to change."""

    field: str = Field(
        description="The name of the field, with the position in a list.", examples=["text[3]"]
    )
    message: str = Field(
        description="What is wrong and what to change.", examples=["k is 51, the limit is 50: lower it"]
    )
    limit: float | int | None = Field(
        default=None, description="The limit that was exceeded, if any.", examples=[50]
    )
    allowed: list[str] | None = Field(
        default=None, description="The allowed values, if they can be listed.", examples=[["de", "en"]]
    )
    candidates: list[str] | None = Field(
        default=None,
        description="If the language of a text is unclear: codes of those it may be in, likeliest first.",
        examples=[["da", "nb"]],
    )


class Problem(BaseModel):
    """An RFC 9457 problem document."""

    type: str = Field(
        description="The type of problem; GET it for an explanation.", examples=["/problems/invalid-request"]
    )
    title: str = Field(description="What went wrong, in general.", examples=["Invalid request"])
    status: int = Field(description="The HTTP status code.", examples=[422])
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
        default=None, description=f"The fields that are wrong, at most {ERRORS_SHOWN}.", examples=[None]
    )


class Failure(BaseModel):
    """LibreTranslate's shape of an error."""

    error: str = Field(description="What is wrong with this request and what to change.")
