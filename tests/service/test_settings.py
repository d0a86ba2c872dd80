"""The settings, and that their documentation is true."""

from pathlib import Path

import pytest

from index.errors import UsageError
from service.settings import ENVIRONMENT_PREFIX, Settings, load_settings

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(ENVIRONMENT_PREFIX + name.upper(), raising=False)


def test_the_document_has_a_row_for_every_setting_with_its_default() -> None:
    rows = {line for line in DOCUMENT.read_text("utf-8").splitlines() if line.startswith("| `")}
    expected = set()
    for name, field in Settings.model_fields.items():
        default = "none" if field.default is None else f"`{field.default}`"
        expected.add(f"| `{ENVIRONMENT_PREFIX}{name.upper()}` | {default} | {field.description} |")
    assert rows == expected


def test_an_option_comes_before_the_environment_and_that_before_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PASSEPARTOUT_PORT", "9001")
    monkeypatch.setenv("PASSEPARTOUT_THREADS", "7")
    settings = load_settings(port=9002, host=None)
    assert (settings.port, settings.threads, settings.host) == (9002, 7, "127.0.0.1")


def test_an_empty_variable_is_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSEPARTOUT_REDIS_URL", "")
    assert load_settings().redis_url is None


@pytest.mark.parametrize(("name", "meant"), [("API_KEY", "API_KEYS"), ("TRUSTED_PROXY", "TRUSTED_PROXIES")])
def test_a_misspelled_setting_is_not_ignored(monkeypatch: pytest.MonkeyPatch, name: str, meant: str) -> None:
    variable, setting = ENVIRONMENT_PREFIX + name, ENVIRONMENT_PREFIX + meant
    monkeypatch.setenv(variable, "anything")
    with pytest.raises(UsageError, match=f"^{variable} is no setting: {setting} is$"):
        load_settings()


@pytest.mark.parametrize("name", ["MILVUS_TOKEN", "KEY"])
def test_a_variable_of_another_part_is_no_setting(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(ENVIRONMENT_PREFIX + name, "anything")
    load_settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "70000"),
        ("WORKERS", "0"),
        ("THREADS", "many"),
        ("LOG_LEVEL", "loud"),
        ("MAX_CHARACTERS", "0"),
    ],
)
def test_a_value_that_is_not_allowed_is_one_line_naming_the_setting(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(ENVIRONMENT_PREFIX + name, value)
    with pytest.raises(UsageError, match=ENVIRONMENT_PREFIX + name) as error:
        load_settings()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("url", ["https://:hunter2@cache", "redis://user:hunter2/x@cache:port"])
def test_a_password_is_never_repeated(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("PASSEPARTOUT_REDIS_URL", url)
    with pytest.raises(UsageError, match="redis://") as error:
        load_settings()
    assert "hunter2" not in str(error.value)
    monkeypatch.setenv("PASSEPARTOUT_REDIS_URL", "redis://:hunter2@cache")
    assert "hunter2" not in repr(load_settings())
