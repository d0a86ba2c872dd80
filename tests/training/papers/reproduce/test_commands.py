import pytest

from index.errors import PassepartoutError
from training.papers.reproduce.commands import _ending, call


def test_what_a_command_said_is_the_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PassepartoutError, match=r"^index verify: .*none") as caught:
        call("index", "verify", "none/such")
    assert "passepartout: " not in str(caught.value)


def test_a_command_that_works_says_nothing() -> None:
    call("--version")


def test_a_command_that_was_killed_is_told() -> None:
    assert _ending(-9, "").startswith("ended by SIGKILL")
    assert _ending(1, "MemoryError") == "exit code 1: MemoryError"
