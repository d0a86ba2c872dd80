import pytest
from hypothesis import settings

from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from tests.bundles import make_bundle

# A loaded machine is no failure: no limit on the time of one example.
settings.register_profile("evaluation", deadline=None, max_examples=50)
settings.load_profile("evaluation")


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """Languages that share a space, but not perfectly."""
    return make_bundle(tmp_path_factory.mktemp("evaluation") / "bundle", noise=0.9)


@pytest.fixture(scope="session")
def encoder(bundle: Bundle) -> TextEncoder:
    return TextEncoder(bundle)
