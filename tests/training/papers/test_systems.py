"""training/papers/systems.py: what is measured of a system."""

from pathlib import Path

import pytest

from index.errors import PassepartoutError
from training.papers.systems import _ending, call, write_captions


def test_a_language_that_names_of_drawings_alone_know_has_no_captions_to_be_measured_on(
    data: Path, tmp_path: Path
) -> None:
    folder = write_captions(data, tmp_path, ["de", "qu", "en"])
    lines = {path.name: path.read_text("utf-8").splitlines() for path in folder.iterdir()}
    assert set(lines) == {"de.txt", "en.txt"}
    assert len(lines["de.txt"]) == len(lines["en.txt"]) > 0


def test_the_error_is_the_last_line_of_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PassepartoutError, match=r"^index verify: .*none") as caught:
        call("index", "verify", "none/such")
    assert "passepartout: " not in str(caught.value)


def test_a_command_that_works_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    call("--version")
    assert capfd.readouterr() == ("", "")


def test_a_killed_command_is_reported() -> None:
    assert _ending(-9, "").startswith("ended by SIGKILL")
    assert _ending(1, "MemoryError") == "exit code 1: MemoryError"
