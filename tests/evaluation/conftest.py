import pytest

from index.bundle import Bundle
from tests.bundles import make_bundle


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """Languages that share a space, but not perfectly."""
    return make_bundle(tmp_path_factory.mktemp("evaluation") / "bundle", noise=0.9)
