"""The suite `confidence`, with the shipped encoder and scenes of two languages."""

from pathlib import Path

import pytest

from evaluation.suites.confidence import LEFT_OUT_EVERY, confidence, lacks
from index.build.probes import first_scenes
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import DataError
from tests.bundles import make_corpus

CODES = ("de", "en")


def test_other_kinds_are_not_answered_and_punctuation_changes_nothing(
    open_encoder: TextEncoder, few_probes: None, tmp_path: Path
) -> None:
    for code in CODES:
        (tmp_path / f"{code}.txt").write_text("\n".join(first_scenes(code)) + "\n", "utf-8")
    (table,) = confidence(open_encoder, tmp_path, CODES)
    assert table.languages == CODES
    for pair in table.pairs:
        assert pair.n == len(first_scenes("en")) // LEFT_OUT_EVERY
        assert pair.measures["right"] > 95
        assert pair.measures["answered"] > 95
        assert pair.measures["others_answered"] <= 2  # of a hundred lines
        assert pair.measures["missing_answered"] < 7
        assert pair.measures["changed"] <= 1
        assert pair.measures["ece"] < 5


def test_each_language_lacks_different_lines() -> None:
    lacked = [{line for line in range(40) if lacks(line, language)} for language in range(2)]
    assert not lacked[0] & lacked[1]
    assert all(len(lines) == 40 // LEFT_OUT_EVERY for lines in lacked)


def test_too_few_lines_are_one_line(bundle: Bundle, tmp_path: Path) -> None:
    make_corpus(tmp_path, CODES, 2)
    with pytest.raises(DataError, match="too few"):
        confidence(TextEncoder(bundle), tmp_path, CODES)
