"""What these tests share; they need no engine."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docker.nginx import reverse_proxy
from tests.service.server import serving


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return Path(__file__).parents[2]


@pytest.fixture(scope="module")
def proxy(index_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of the shipped proxy before two replicas."""
    with ExitStack() as stack:
        addresses = [stack.enter_context(serving(index_dir))[0] for _ in range(2)]
        ports = [int(address.rpartition(":")[2]) for address in addresses]
        yield stack.enter_context(reverse_proxy(tmp_path_factory.mktemp("nginx"), *ports))
