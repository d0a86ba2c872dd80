"""The OpenAPI document: complete, true of this deployment."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from index.answers.answer import SentenceResponse, WordResponse
from service.app import create_app
from service.http.problems import LIBRETRANSLATE_PATHS, MEDIA_TYPE
from service.settings import Settings


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(Settings()).openapi()


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method} {path}": found
        for path, item in document["paths"].items()
        for method, found in item.items()
    }


def test_every_route_parameter_and_field_says_what_it_means(document: dict[str, Any]) -> None:
    described = dict(operations(document))
    for operation, content in operations(document).items():
        described |= {f"{operation}: {given['name']}": given for given in content.get("parameters", [])}
    for model, schema in document["components"]["schemas"].items():
        described[model] = schema
        # A constant says it by itself; a model that a field refers to, in its own description.
        described |= {
            f"{model}.{name}": field
            for name, field in schema.get("properties", {}).items()
            if "const" not in field and "$ref" not in field
        }
    assert [name for name, content in described.items() if not content.get("description")] == []


def test_whatever_goes_wrong_is_documented_as_a_problem(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        wrong = operation["responses"]["default"]["content"]
        if name.partition(" ")[2] in LIBRETRANSLATE_PATHS:
            assert wrong == {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}
        else:
            assert wrong == {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}


def test_the_examples_of_requests_work(client: TestClient, document: dict[str, Any]) -> None:
    for path, model in (("/translate/sentence", "SentenceRequest"), ("/translate/word", "WordRequest")):
        schema = document["components"]["schemas"][model]
        for example in schema["examples"]:
            assert client.post(path, json=example).status_code == 200
            assert set(example) <= set(schema["properties"])
        response = document["components"]["schemas"][model.replace("Request", "Response")]
        type_of = {"SentenceRequest": SentenceResponse, "WordRequest": WordResponse}[model]
        for example in response["examples"]:
            assert type_of.model_validate(example).model_dump(mode="json", exclude_none=True) == example
