"""What an operator may set, with defaults. Limits that nobody turns are in service/limits.py.

Each is read from the environment as PASSEPARTOUT_NAME (docs/reference/settings.md); the command line's
options come before the environment.
"""

import os
import re
from difflib import get_close_matches
from functools import cached_property
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from index.confidence import MIN_CONFIDENCE
from index.errors import UsageError
from service.http.keys import Keys

ENVIRONMENT_PREFIX = "PASSEPARTOUT_"
MISSPELLED = 0.9  # likeness to a setting of a name that is none


class Settings(BaseSettings):
    """Every setting of the service; frozen once read.

    Every setting is an environment variable. `passepartout serve` has options for `--index`, `--host`,
    `--port` and `--workers`; an option comes before the environment, the environment before the default. A
    value that is not allowed stops the service at the start, with one line that names the setting.

    **Keys.** With `api_keys` set, everything but the page, the lists of languages, health and `/openapi.json`
    needs a key: `Authorization: Bearer KEY`, `X-API-Key: KEY`, or the field `api_key` of LibreTranslate's
    protocol. `python -m service.http.keys NAME` makes a key and its entry; the service keeps only the
    SHA-256.

    **A proxy** limits what slow and many clients may take: headers, bodies, connections, times and rates.
    `docker/nginx.conf` is one to start from. Name it in `trusted_proxies`.

    **Answers** are cached in the process or, with `redis_url`, in Redis for all processes. A key is a hash of
    the text, the languages, the encoder and the version of the index, so a new version never gives old
    answers. While Redis fails, the service goes on without it. An ACL user for the cache needs only
    `GET MGET SET`.

    **Changes over HTTP** need `admin_keys`, `jobs_url`, and `passepartout jobs` beside the service, with the
    same settings.

    **Logs** have routes, statuses and times, never a text.
    """

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX,
        env_ignore_empty=True,
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
    )

    index: Path = Field(default=Path("var/index"), description="Folder of the index to serve.")
    host: str = Field(default="127.0.0.1", description="Address to listen on; 0.0.0.0 for every interface.")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    workers: int = Field(default=1, ge=1, le=256, description="Server processes; each opens the index.")
    threads: int = Field(
        default=1, ge=1, le=256, description="Threads of one worker for encoding and search."
    )
    max_requests: int = Field(
        default=128,
        ge=2,
        description="Requests that one worker answers at a time; more get 503 with Retry-After.",
    )
    drain_seconds: float = Field(
        default=1.0,
        ge=0,
        le=3600,
        description="After SIGTERM, time in which requests are still accepted, while /health/ready says no "
        "and every answer asks its client to reconnect.",
    )
    log_level: Literal["critical", "error", "warning", "info", "debug"] = Field(
        default="info", description="Least severe level to log; texts are never logged."
    )
    log_format: Literal["text", "json"] = Field(
        default="text", description="Log lines as text or as JSON objects, to stderr."
    )
    log_requests: bool = Field(
        default=False, description="Log a line for each request: its id, route, status and time."
    )
    metrics: Literal["loopback", "everyone", "off"] = Field(
        default="loopback", description="Who may read /metrics: only this machine, everyone, or nobody."
    )
    api_keys: SecretStr | None = Field(
        default=None,
        description="Accepted API keys, as comma-separated name:sha256 entries; none: no key is needed.",
    )
    admin_keys: SecretStr | None = Field(
        default=None,
        description="Keys that may change the index, in the same form; none: nobody may.",
    )
    trusted_proxies: str = Field(
        default="127.0.0.1",
        description="Proxies whose X-Forwarded-For says who the client is: addresses and networks, "
        "comma-separated; * for whoever connects.",
    )
    cors_origins: str | None = Field(
        default=None,
        description="Origins whose pages may call the API, comma-separated, such as https://example.org; "
        "* for all.",
    )

    max_characters: int = Field(default=1000, ge=1, description="Characters of a sentence, or a native text.")
    min_confidence: float = Field(
        default=MIN_CONFIDENCE,
        ge=0,
        le=1,
        description="Lowest confidence of answers in LibreTranslate's protocol, which cannot show it.",
    )
    cache_bytes: int = Field(
        default=67_108_864,
        ge=0,
        description="Memory for answers cached in the process, without redis_url; 0 switches the cache off.",
    )
    redis_url: SecretStr | None = Field(
        default=None,
        description="Redis that caches answers for all processes: a redis://, rediss:// (TLS) or unix:// "
        "address, with a password where needed.",
    )
    cache_secret: SecretStr | None = Field(
        default=None,
        min_length=16,
        description="Secret of all processes that signs answers in Redis, so that others that write there "
        "cannot choose answers. `openssl rand -hex 32` makes one.",
    )

    jobs_url: SecretStr | None = Field(
        default=None,
        description="Redis for the job queue, an address like redis_url, of its own for each index; none: no "
        "changes over HTTP.",
    )
    spool: Path | None = Field(
        default=None,
        description="Folder of uploads and translated files, shared by service and worker; none: the index "
        "folder with .spool appended.",
    )
    max_upload_bytes: int = Field(
        default=268_435_456, ge=1024, description="Largest upload of a corpus file."
    )

    @property
    def spool_folder(self) -> Path:
        return self.spool or self.index.with_name(f"{self.index.name}.spool")

    @cached_property
    def keys(self) -> Keys:
        return Keys.parse(self.api_keys.get_secret_value()) if self.api_keys else Keys({})

    @cached_property
    def admins(self) -> Keys:
        return Keys.parse(self.admin_keys.get_secret_value()) if self.admin_keys else Keys({})

    @property
    def origins(self) -> list[str]:
        return [part.strip() for part in (self.cors_origins or "").split(",") if part.strip()]

    @field_validator("api_keys", "admin_keys")
    @classmethod
    def _parsed(cls, entries: SecretStr | None) -> SecretStr | None:
        if entries is not None:
            Keys.parse(entries.get_secret_value())
        return entries

    @field_validator("trusted_proxies")
    @classmethod
    def _addresses(cls, given: str) -> str:
        for address in [] if given == "*" else given.split(","):
            try:
                ip_network(address.strip())
            except ValueError:
                raise ValueError("must be addresses or networks such as 10.0.0.0/8, or *") from None
        return given

    @field_validator("cors_origins")
    @classmethod
    def _origins(cls, given: str | None) -> str | None:
        for origin in (given or "*").split(","):
            if not re.fullmatch(r"\*|https?://[a-zA-Z0-9.\[\]:-]+", origin.strip()):
                raise ValueError("must be origins such as https://example.org, without a path")
        return given

    @field_validator("redis_url", "jobs_url")
    @classmethod
    def _readable(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None:
            from redis.connection import parse_url  # redis costs memory: only where it is used

            try:
                parse_url(url.get_secret_value())  # type: ignore[no-untyped-call]
            except ValueError:  # whose message may hold a part of the password
                raise ValueError("must be a redis://, rediss:// or unix:// address") from None
        return url


def load_settings(**options: Any) -> Settings:  # noqa: ANN401
    """The settings from `options` that are not None, then the environment, then the defaults.

    Raises UsageError, one line, for a variable whose name is nearly a setting's, which would be ignored, and
    for a value that is not allowed; the value itself is not repeated (secrets).
    """
    variables = [f"{ENVIRONMENT_PREFIX}{name.upper()}" for name in Settings.model_fields]
    for name in sorted(os.environ.keys() - set(variables)):
        for meant in get_close_matches(name, variables, 1, MISSPELLED):
            raise UsageError(f"{name} is no setting: {meant} is")
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        named = [(str((*detail["loc"], "settings")[0]), detail["msg"]) for detail in error.errors()]
        reasons = [f"setting {name} ({ENVIRONMENT_PREFIX}{name.upper()}): {said}" for name, said in named]
        raise UsageError("; ".join(reasons)) from None
