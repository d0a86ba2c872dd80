"""What LibreTranslate's protocol takes and gives, as pydantic models; names are that protocol's."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from service.schemas import Texts

# A list may hold blank texts, which are their own translation.
Q_SCHEMA = WithJsonSchema(
    {
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
        ],
        "description": "One text, or a list of them.",
    }
)


def _refuse_booleans(value: object) -> object:
    return str(value) if isinstance(value, bool) else value


def _not_negative(value: int) -> int:
    return max(0, value)


def _field(description: str) -> Any:  # noqa: ANN401 (what pydantic's Field gives)
    return Field(min_length=1, description=description)


class TranslateRequest(BaseModel):
    """The fields of `POST /translate`; what else is sent is ignored, as LibreTranslate does."""

    model_config = ConfigDict(frozen=True)

    q: Annotated[Texts, Q_SCHEMA]
    source: str = _field("Language code of the texts, or `auto`.")
    target: str = _field("Language code to translate into.")
    format: Literal["text", "html"] = Field(default="text", description="Of `html`, the text is translated.")
    alternatives: Annotated[
        int,
        BeforeValidator(_refuse_booleans),
        AfterValidator(_not_negative),
        Field(description="Most alternatives to each answer."),
    ] = 0
    api_key: str | None = Field(default=None, description="The key, where the service asks for one.")


class DetectRequest(BaseModel):
    """The fields of `POST /detect`."""

    model_config = ConfigDict(frozen=True)

    q: str = _field("The text.")
    api_key: str | None = Field(default=None, description="The key, where the service asks for one.")


class Detected(BaseModel):
    """A language that a text may be in."""

    confidence: float = Field(ge=0, le=100, description="How likely, in percent.")
    language: str = Field(description="Language code.", examples=["en"])


class Translated(BaseModel):
    """A single `q` gets single values, a list gets lists."""

    translatedText: str | list[str] = Field(description='"" where nothing is likely enough.')
    detectedLanguage: Detected | list[Detected] | None = Field(
        default=None, description="Where `source` was `auto`."
    )
    alternatives: list[str] | list[list[str]] | None = Field(
        default=None, description="Where some were asked for."
    )


class Suggested(BaseModel):
    success: bool


class Failure(BaseModel):
    """LibreTranslate's shape of an error."""

    error: str = Field(description="What is wrong with this request and what to change.")


class Health(BaseModel):
    status: Literal["ok"] = "ok"


class Named(BaseModel):
    code: str
    name: str


class FrontendSettings(BaseModel):
    """What the service allows, in LibreTranslate's terms."""

    charLimit: int = Field(description="Characters of one text.")
    frontendTimeout: int = Field(default=500, description="Pause in typing before translating, ms.")
    apiKeys: bool = Field(description="Whether there are API keys.")
    keyRequired: bool = Field(description="Whether translating needs one.")
    suggestions: bool = False
    filesTranslation: bool = True
    supportedFilesFormat: list[str] = Field(default_factory=list)
    language: dict[Literal["source", "target"], Named]


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
