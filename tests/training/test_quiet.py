import logging
import warnings

import pytest

from training.quiet import quiet

EXPORTER = "torch.onnx._internal.exporter._registration"


@pytest.mark.parametrize("name", ["", "torch.onnx", EXPORTER])
def test_talk_is_silenced_and_errors_are_not(name: str, caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger(name)
    with quiet():
        logger.warning("torchvision is not installed")
        logger.error("the graph is broken")
    assert [record.message for record in caplog.records] == ["the graph is broken"]


def test_afterwards_all_is_as_before(caplog: pytest.LogCaptureFixture) -> None:
    names = ["", "torch.onnx"]
    before = [logging.getLogger(name).level for name in names]
    with pytest.raises(ValueError, match="inside"), quiet():
        raise ValueError("inside")
    assert [logging.getLogger(name).level for name in names] == before
    logging.getLogger(EXPORTER).warning("heard again")
    assert [record.message for record in caplog.records] == ["heard again"]


def test_warnings_are_ignored_inside_alone() -> None:
    with quiet():
        warnings.warn("inside", UserWarning, stacklevel=1)
    with pytest.raises(UserWarning, match="outside"):  # the tests' own filter is in force again
        warnings.warn("outside", UserWarning, stacklevel=1)
