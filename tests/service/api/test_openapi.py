"""The OpenAPI document: complete, true of this deployment, and the committed copy in step."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from service.app import create_app
from service.http.problems import LIBRETRANSLATE_PATHS, MEDIA_TYPE, ProblemType
from service.schemas import SentenceResponse, WordResponse
from service.settings import Settings
from tests.service.conftest import ClientFactory

COMMITTED = Path(__file__).parents[3] / "docs" / "reference" / "openapi.json"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(Settings()).openapi()


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method} {path}": found
        for path, item in document["paths"].items()
        for method, found in item.items()
    }


def test_the_committed_document_is_in_step(document: dict[str, Any]) -> None:
    """To bring it in step: python -m scripts.reference"""
    assert json.loads(COMMITTED.read_text("utf-8")) == document


def test_it_has_every_path_of_the_api(document: dict[str, Any]) -> None:
    assert list(operations(document)) == [
        "post /translate/sentence",
        "post /translate/word",
        "get /languages",
        "get /health/live",
        "get /health/ready",
        "get /metrics",
        "get /concordance",
        "post /translate",
        "post /detect",
        "post /suggest",
        "get /frontend/settings",
        "get /health",
        "post /translate_file",
        "get /download_file/{name}",
        "get /teach/pictures",
        "get /tmserver/languages/",
        "get /tmserver/{source_language}/{target_language}/unit/{text}",
        "post /admin/reload",
        "post /admin/uploads",
        "get /admin/uploads",
        "delete /admin/uploads/{upload_id}",
        "get /admin/versions",
        "post /admin/jobs",
        "get /admin/jobs",
        "get /admin/jobs/{job_id}",
        "post /admin/jobs/{job_id}/cancel",
        "get /admin/jobs/{job_id}/events",
    ]


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


def test_every_problem_is_documented_as_a_problem_document(document: dict[str, Any]) -> None:
    seen = set()
    for name, operation in operations(document).items():
        if name.partition(" ")[2] in LIBRETRANSLATE_PATHS:
            continue
        for status, response in operation["responses"].items():
            if int(status) < 400:
                continue
            (media_type,) = response["content"]
            assert media_type == MEDIA_TYPE
            assert response["content"][media_type]["schema"] == {"$ref": "#/components/schemas/Problem"}
            for example in response["content"][media_type]["examples"].values():
                assert example["value"]["status"] == int(status)
                seen.add(example["value"]["type"])
    assert seen == {kind.type for kind in ProblemType if kind is not ProblemType.TOO_SLOW}, "of any body"


def test_every_failure_of_libretranslates_protocol_has_its_shape(document: dict[str, Any]) -> None:
    for path in LIBRETRANSLATE_PATHS:
        (operation,) = document["paths"][path].values()
        failures = [found for status, found in operation["responses"].items() if int(status) >= 400]
        assert failures
        for failure in failures:
            assert failure["content"] == {
                "application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}
            }


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    for name in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
        assert name in document["components"]["schemas"]


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


def test_the_limits_are_those_of_the_settings(make_client: ClientFactory) -> None:
    client = make_client(max_texts=3, max_characters=50, max_word_characters=9, max_targets=2, max_k=4)
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    one, many = schemas["SentenceRequest"]["properties"]["text"]["anyOf"]
    assert (one["maxLength"], many["maxItems"], many["items"]["maxLength"]) == (50, 3, 50)
    assert schemas["WordRequest"]["properties"]["word"]["anyOf"][0]["maxLength"] == 9
    assert schemas["WordRequest"]["properties"]["target"]["anyOf"][1]["maxItems"] == 2
    assert (
        schemas["SentenceRequest"]["properties"]["k"]["minimum"],
        schemas["WordRequest"]["properties"]["k"]["maximum"],
    ) == (1, 4)


def test_the_reference_has_every_operation_and_no_script(
    document: dict[str, Any], make_client: ClientFactory
) -> None:
    answer = make_client().get("/docs")
    assert answer.status_code == 200
    for operation in operations(document):
        method, _, path = operation.partition(" ")
        assert f"<code>{method.upper()} {path}</code>" in answer.text
    assert "<script" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
