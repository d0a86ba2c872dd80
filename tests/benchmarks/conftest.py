"""What the benchmarks of training share with its tests."""

from tests.training.conftest import data as data
