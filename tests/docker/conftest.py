"""Where the files are that these tests read: they need no engine."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT
