"""training/papers/reproduce/systems.py: what is measured of a system."""

from pathlib import Path

from training.papers.reproduce.systems import write_captions


def test_a_language_that_names_of_drawings_alone_know_has_no_captions_to_be_measured_on(
    data: Path, tmp_path: Path
) -> None:
    folder = write_captions(data, tmp_path, ["de", "qu", "en"])
    lines = {path.name: path.read_text("utf-8").splitlines() for path in folder.iterdir()}
    assert set(lines) == {"de.txt", "en.txt"}
    assert len(lines["de.txt"]) == len(lines["en.txt"]) > 0
