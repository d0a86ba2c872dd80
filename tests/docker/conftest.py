"""What these tests share; they need no engine."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.docker.nginx import reverse_proxy
from tests.service.server import serving


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return Path(__file__).parents[2]


@contextmanager
def proxied(index: Path, folder: Path, replicas: int, **settings: str) -> Iterator[int]:
    """The port of nginx with the shipped configuration, before replicas with these settings."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(f"PASSEPARTOUT_{name}", value)
        addresses = [stack.enter_context(serving(index))[0] for _ in range(replicas)]
        ports = [int(address.rpartition(":")[2]) for address in addresses]
        yield stack.enter_context(reverse_proxy(folder, *ports))


@pytest.fixture(scope="module")
def proxy(index_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of the shipped proxy before two replicas."""
    with proxied(index_dir, tmp_path_factory.mktemp("nginx"), replicas=2) as port:
        yield port
