"""Shards: encoded once, in any process, kept through death and damage; sentences by their rows."""

import os
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from index.arrays import Vectors
from index.build import encoding
from index.build.encoding import BuildJob, Encoded, EncodingPool, Shards
from index.build.lexicon import detector_of
from index.build.reading import texts_of
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import PassepartoutError
from index.storage import tables as texts
from index.storage.tables import writing_table
from index.text.identification import Detector
from index.text.pre_tokens import Tokens
from tests.bundles import make_bundle, sentences

TEXTS = sentences("en")[:60]
PARTS = [TEXTS[:20], TEXTS[20:45], TEXTS[45:]]


@pytest.fixture
def job(bundle: Bundle, tmp_path: Path) -> BuildJob:
    return BuildJob(tmp_path, tmp_path, bundle, TextEncoder(bundle))


@pytest.fixture(scope="module")
def detector(bundle: Bundle) -> Detector:
    return detector_of(TextEncoder(bundle), {})


def encode(
    job: BuildJob, detector: Detector, parts: list[list[str]], threads: int = 1
) -> tuple[Vectors, int]:
    """All vectors, and how many texts had to be encoded."""
    counted = 0
    at_work = BuildJob(job.work, job.parts, job.bundle, job.encoder, threads)
    with EncodingPool(at_work, detector) as pool, Shards(job, "en", pool) as shards:
        ask = pool.encode

        def counting(code: str, texts: Sequence[str], check_language: bool) -> "Future[Encoded]":
            nonlocal counted
            counted += len(texts)
            return ask(code, texts, check_language)

        pool.encode = counting  # type: ignore[method-assign]
        for part in parts:
            shards.finish(shards.begin(part, check_language=True), list(range(len(part))))
        shards.close()
    return np.fromfile(job.parts / "en.vectors", np.float32).reshape(-1, job.encoder.dimension), counted


def test_vectors_are_those_of_the_encoder_and_are_made_once(job: BuildJob, detector: Detector) -> None:
    found, counted = encode(job, detector, PARTS)
    np.testing.assert_allclose(found, job.encoder.encode(TEXTS), atol=1e-6)
    assert counted == len(TEXTS)
    again, counted = encode(job, detector, PARTS)
    assert counted == 0
    np.testing.assert_array_equal(again, found)


def test_processes_make_the_same_bytes(
    job: BuildJob, detector: Detector, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = encode(job, detector, PARTS)
    monkeypatch.setattr(encoding, "TEXTS_WITHOUT_PROCESSES", 10)
    (job.parts / "en.journal").unlink()
    again, counted = encode(job, detector, PARTS, threads=2)
    assert counted == len(TEXTS)
    assert again.tobytes() == found.tobytes()


@pytest.mark.parametrize(
    ("damage", "left"),
    [
        (lambda vectors, journal: journal.write_bytes(journal.read_bytes()[:-5]), 15),
        (lambda vectors, journal: journal.write_bytes(b"{}\n" + journal.read_bytes()), 0),
        (lambda vectors, journal: journal.write_bytes(b"\xff[]"), 60),
        (lambda vectors, journal: os.truncate(vectors, vectors.stat().st_size - 1), 15),
        (lambda vectors, journal: vectors.write_bytes(b"\1" + vectors.read_bytes()[1:]), 20),
        (lambda vectors, journal: vectors.unlink(), 60),
    ],
    ids=["journal cut", "journal longer", "no journal", "vectors cut", "vectors flipped", "no vectors"],
)
def test_what_is_damaged_is_encoded_again_and_what_is_not_is_not(
    job: BuildJob, detector: Detector, damage: object, left: int
) -> None:
    found, _ = encode(job, detector, PARTS)
    damage(job.parts / "en.vectors", job.parts / "en.journal")  # type: ignore[operator]
    again, counted = encode(job, detector, PARTS)
    assert counted == left
    np.testing.assert_array_equal(again, found)
    assert encode(job, detector, PARTS)[1] == 0


def test_only_other_texts_are_encoded_and_those_of_another_encoder_are(
    job: BuildJob, detector: Detector, tmp_path: Path
) -> None:
    encode(job, detector, PARTS)
    found, counted = encode(job, detector, [PARTS[0], ["A dog."], PARTS[2]])
    assert counted == 1
    np.testing.assert_allclose(found, job.encoder.encode([*PARTS[0], "A dog.", *PARTS[2]]), atol=1e-6)
    other = make_bundle(tmp_path / "other", seed=1, name="other")
    again = BuildJob(job.work, job.parts, other, TextEncoder(other))
    assert encode(again, detector, [PARTS[0]])[1] == len(PARTS[0])


def test_a_language_is_judged_and_the_foreign_are_not_encoded(job: BuildJob, detector: Detector) -> None:
    texts = [TEXTS[0], sentences("de")[0], sentences("ar")[0], "dog"]
    with EncodingPool(job, detector) as encoders:
        found = encoders.encode("en", texts, check_language=True).result()
        assert found.foreign == [False, True, True, False]
        assert not found.vectors[1:3].any()
        assert encoders.encode("en", texts, check_language=False).result().foreign == [False] * 4
    assert found.foreign == detector.foreign(Tokens.of(job.encoder.tokens(texts)), "en").tolist()


def test_a_process_that_is_killed_is_one_line(
    job: BuildJob, detector: Detector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "TEXTS_WITHOUT_PROCESSES", 1)
    with EncodingPool(BuildJob(job.work, job.parts, job.bundle, job.encoder, 2), detector) as encoders:
        encoders.encode("en", TEXTS, check_language=False).result()
        assert encoders._executor is not None
        for process in list(encoders._executor._processes.values()):
            process.kill()
        with pytest.raises(PassepartoutError, match="a process of the build died"):
            encoders.result(encoders.encode("en", TEXTS, check_language=False))


@pytest.mark.parametrize("end", [None, 0, 3, 7, 10, 15, 99])
@pytest.mark.parametrize("size", [1, 4, 100])
def test_sentences_come_by_their_rows_whatever_the_batches_of_the_file(
    job: BuildJob, monkeypatch: pytest.MonkeyPatch, size: int, end: int | None
) -> None:
    monkeypatch.setattr(texts, "BATCH_ROWS", 7)
    sentences = [f"Sentence {row}." for row in range(25)]
    with writing_table(job.work / "en.arrow", ["text"]) as table:
        table.add({"text": sentences})
    found = [part.to_pylist() for part in texts_of(job, "en", size, end)]
    assert [text for part in found for text in part] == sentences[:end]
    assert all(0 < len(part) <= size for part in found)
