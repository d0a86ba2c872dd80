"""What LibreTranslate's protocol takes and gives, as pydantic models; names are that protocol's."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from service.schemas import Texts


def _not_negative(value: object) -> object:
    return max(0, value) if isinstance(value, int) else value


class TranslateOrder(BaseModel):
    """The fields of `POST /translate`; what else is sent is ignored, as LibreTranslate does."""

    model_config = ConfigDict(frozen=True)

    q: Texts
    source: str = Field(description="Language code of the texts, or `auto`.")
    target: str = Field(description="Language code to translate into.")
    format: Literal["text", "html"] = Field(default="text", description="Of `html`, the text is translated.")
    alternatives: Annotated[
        int, BeforeValidator(_not_negative), Field(description="Most alternatives to each answer.")
    ] = 0
    api_key: str | None = Field(default=None, description="The key, where the service asks for one.")


class DetectOrder(BaseModel):
    """The fields of `POST /detect`."""

    model_config = ConfigDict(frozen=True)

    q: str = Field(description="The text.")
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
    filesTranslation: bool = False
    supportedFilesFormat: list[str] = Field(default_factory=list)
    language: dict[Literal["source", "target"], Named]


def _body(model: type[BaseModel], example: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI request body of `model`, as JSON or as a form."""
    content = {"schema": model.model_json_schema(), "example": example}
    kinds = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
    return {"required": True, "content": {kind: content for kind in kinds}}


TRANSLATE_BODY = _body(TranslateOrder, {"q": "A dog runs on the beach.", "source": "en", "target": "de"})
DETECT_BODY = _body(DetectOrder, {"q": "A dog runs on the beach."})
