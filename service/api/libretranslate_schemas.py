"""What LibreTranslate's protocol takes and gives, as pydantic models; names are that protocol's."""

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from index.answers.request import Texts
from index.formats.registry import DOCUMENT_EXTENSIONS

# A list may hold blank texts, which are their own translation.
Q_SCHEMA = WithJsonSchema(
    {
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
        ],
        "description": "A text, or a list of texts.",
    }
)


def _field(description: str) -> Any:  # noqa: ANN401 (what pydantic's Field gives)
    return Field(min_length=1, description=description)


class TranslateRequest(BaseModel, frozen=True):
    """The fields of `POST /translate`; what else is sent is ignored, as LibreTranslate does."""

    q: Annotated[Texts, Q_SCHEMA]
    source: str = _field("Language code of the texts, or `auto`.")
    target: str = _field("Language code to translate into.")
    format: Literal["text", "html"] = Field(
        default="text",
        description="Whether the texts are plain or HTML, whose tags stay around sentences, but inside of "
        "one only if the approved sentence has them.",
    )
    alternatives: Annotated[
        int,
        BeforeValidator(lambda value: str(value) if isinstance(value, bool) else value),  # refused
        AfterValidator(partial(max, 0)),
        Field(description="Highest number of alternatives per text."),
    ] = 0
    api_key: str | None = Field(default=None, description="The API key, if the service requires one.")


class DetectRequest(BaseModel, frozen=True):
    """The fields of `POST /detect`."""

    q: str = _field("The text.")
    api_key: str | None = Field(default=None, description="The API key, if the service requires one.")


class FileRequest(BaseModel):
    """The form of `POST /translate_file`."""

    file: bytes = Field(description=f"The file; its name ends in {', '.join(DOCUMENT_EXTENSIONS)}.")
    source: str = Field(default="auto", description="Language code of its texts, or `auto`.")
    target: str = _field("Language code to translate into.")
    fuzzy: Literal["true", "false"] | SkipJsonSchema[None] = Field(
        default=None,
        description="Whether to fill in translations of similar texts; if left out, only in formats that "
        "can mark them.",
    )
    api_key: str | None = Field(default=None, description="The API key, if the service requires one.")


class Detected(BaseModel):
    """A language that a text may be in."""

    confidence: float = Field(ge=0, le=100, description="Probability, per cent.", examples=[98.5])
    language: str = Field(description="Language code.", examples=["en"])


class Translated(BaseModel):
    """The translations: single values for a single `q`, lists for a list."""

    translatedText: str | list[str] = Field(
        description='The best translation; "" if none is likely enough and has the same placeholders.',
        examples=["Ein Hund rennt am Strand."],
    )
    detectedLanguage: Detected | list[Detected] | None = Field(
        default=None, description="The detected language, if `source` is `auto`."
    )
    alternatives: list[str] | list[list[str]] | None = Field(
        default=None, description="Further translations, if any were requested."
    )


class LibreTranslateHealth(BaseModel):
    """The service can translate."""

    status: Literal["ok"] = Field(default="ok", description="Always `ok`.")


def _body(model: type[BaseModel], example: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI request body of `model`: as JSON, where null counts as left out, or as a form."""
    form, parsed = model.model_json_schema(), model.model_json_schema()
    for name, schema in parsed["properties"].items():
        if name not in parsed["required"] and "anyOf" not in schema:
            kept = {key: schema.pop(key) for key in ("title", "description", "default") if key in schema}
            parsed["properties"][name] = {"anyOf": [schema, {"type": "null"}], **kept}
    kinds = {
        "application/json": parsed,
        "application/x-www-form-urlencoded": form,
        "multipart/form-data": form,
    }
    content = {kind: {"schema": schema, "example": example} for kind, schema in kinds.items()}
    return {"required": True, "content": content}


TRANSLATE_BODY = _body(TranslateRequest, {"q": "A dog runs on the beach.", "source": "en", "target": "de"})
DETECT_BODY = _body(DetectRequest, {"q": "A dog runs on the beach."})
