"""Sentences that were read, by their rows."""

from pathlib import Path

import pytest

from index.build.encoding import BuildJob
from index.build.reading import texts_of
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.storage import tables as texts
from index.storage.tables import writing_table


@pytest.mark.parametrize("end", [None, 0, 3, 7, 10, 15, 99])
@pytest.mark.parametrize("size", [1, 4, 100])
def test_sentences_come_by_their_rows_whatever_the_batches_of_the_file(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, end: int | None
) -> None:
    monkeypatch.setattr(texts, "BATCH_ROWS", 7)
    sentences = [f"Sentence {row}." for row in range(25)]
    with writing_table(tmp_path / "en.arrow", ["text"]) as table:
        table.add({"text": sentences})
    job = BuildJob(tmp_path, tmp_path, bundle, TextEncoder(bundle))
    found = [part.to_pylist() for part in texts_of(job, "en", size, end)]
    assert [text for part in found for text in part] == sentences[:end]
    assert all(0 < len(part) <= size for part in found)
