from pathlib import Path

import numpy as np
import pytest
import torch

from index.errors import DamagedError
from training.data.pseudopairs import PseudopairSource

CPU = torch.device("cpu")
EVERY = slice(None)
# Sentence i of a language is one token: 100 and up in German, 200 in English, 300 in Portuguese.
TOKENS = {
    language: [np.array([start + i], np.int32) for i in range(30)]
    for language, start in (("de", 100), ("en", 200), ("pt", 300))
}


def source(seed: int = 0) -> PseudopairSource:
    """Sentence i of German is paired with i of English, the first ten also with i + 1 of Portuguese."""
    made = PseudopairSource(TOKENS, seed)
    same = np.arange(30)
    made.pairs = {
        ("de", "en"): np.stack([same, same], axis=1),
        ("de", "pt"): np.stack([same[:10], same[:10] + 1], axis=1),
    }
    return made


def drawn(made: PseudopairSource, size: int, number: int) -> list[tuple[int, int]]:
    batch = made.batch(size, 3, number)
    assert batch is not None
    (one, _), (other, _) = batch.part(EVERY, CPU)
    return list(zip(one[:, 0].tolist(), other[:, 0].tolist(), strict=True))


def test_a_batch_mixes_languages_those_with_few_pairs_a_little_more_often() -> None:
    made = source()
    steps = [other - one for number in range(200) for one, other in drawn(made, 8, number)]
    assert set(steps) == {100, 201}
    share = steps.count(201) / len(steps)
    expected = 10**0.75 / (10**0.75 + 30**0.75)
    assert share == pytest.approx(expected, abs=0.05)


def test_fewer_pairs_than_rows_come_again() -> None:
    made = source()
    made.pairs = {("de", "pt"): np.array([[0, 1], [2, 3]])}
    assert set(drawn(made, 8, 0)) == {(100, 301), (102, 303)}


def test_nothing_mined_gives_nothing() -> None:
    made = PseudopairSource(TOKENS, 0)
    assert made.batch(8, 0, 0) is None
    made.pairs = {("de", "en"): np.empty((0, 2), np.int64)}
    assert made.batch(8, 0, 0) is None


def test_seed_epoch_and_number_decide() -> None:
    assert drawn(source(), 8, 4) == drawn(source(), 8, 4)
    assert drawn(source(), 8, 4) != drawn(source(), 8, 5)
    assert drawn(source(), 8, 4) != drawn(source(1), 8, 4)


def test_parts_make_the_whole() -> None:
    batch = source().batch(9, 0, 0)
    assert batch is not None
    whole = torch.cat([ids for ids, _ in batch.part(EVERY, CPU)], dim=1)
    parts = [torch.cat([ids for ids, _ in batch.part(slice(i, i + 3), CPU)], dim=1) for i in (0, 3, 6)]
    assert torch.equal(torch.cat(parts), whole)


def test_pairs_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "pairs.safetensors"
    source().write(file)
    again = PseudopairSource(TOKENS, 0)
    again.read(file)
    assert list(again.pairs) == list(source().pairs)
    assert all(np.array_equal(again.pairs[key], rows) for key, rows in source().pairs.items())
    assert [found.name for found in tmp_path.iterdir()] == [file.name]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "pairs.safetensors"
    file.write_bytes(b"no tensors")
    with pytest.raises(DamagedError, match=r"pairs\.safetensors can't be read"):
        source().read(file)
