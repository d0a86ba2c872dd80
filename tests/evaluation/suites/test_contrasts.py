"""The suite `contrasts`, with the shipped encoder and some of its pairs in two languages."""

from pathlib import Path

import pytest

from evaluation.suites.contrasts import COLUMNS, contrasts
from index.build.probes import PROBE_FOLDER
from index.encoder.text_encoder import TextEncoder
from index.errors import DataError

pytestmark = pytest.mark.usefixtures("few_probes")
EVERY = 15  # pair is measured
KINDS = 10


def test_the_right_one_is_answered_and_the_opposite_is_not(open_encoder: TextEncoder, tmp_path: Path) -> None:
    for code in ("de", "en"):
        lines = (PROBE_FOLDER / "contrasts" / f"{code}.tsv").read_text("utf-8").splitlines()
        (tmp_path / f"{code}.tsv").write_text("\n".join(lines[:1] + lines[1::EVERY]) + "\n", "utf-8")
    aligned, *by_kind, plain = contrasts(open_encoder, tmp_path, ("de", "en"))[: KINDS + 2]
    assert (aligned.name, plain.name) == ("contrasts, aligned", "contrasts, not aligned")
    assert sum(table.n for table in by_kind) == aligned.n == 600 / EVERY
    for pair in aligned.pairs:
        assert pair.measures["right"] == 100
        assert pair.measures["opposite"] <= 100 / pair.n  # "Der Schüler darf" and "Die Schüler dürfen"
        assert pair.measures["opposite alone"] <= 100 / pair.n
    for pair in plain.pairs:
        assert pair.measures["right"] >= 90
        assert pair.measures["opposite"] <= 100 / pair.n


def test_files_must_have_the_same_kinds(open_encoder: TextEncoder, tmp_path: Path) -> None:
    head = "\t".join(COLUMNS)
    (tmp_path / "de.tsv").write_text(f"{head}\nside\tLinks.\tRechts.\n", "utf-8")
    (tmp_path / "en.tsv").write_text(f"{head}\nnumber\tTwo.\tThree.\n", "utf-8")
    with pytest.raises(DataError, match=r"en\.tsv"):
        contrasts(open_encoder, tmp_path, ("de", "en"))
