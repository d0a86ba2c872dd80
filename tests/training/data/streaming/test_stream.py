import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.errors import DamagedError, DataError, UsageError
from tests.training.data.streaming.shards import Samples, write_parquet_shard, write_tar_shard
from tests.training.data.test_pictures import encoded, write_tar
from training.data.streaming.shards import Sample, read_shard
from training.data.streaming.stream import Inventory, Stream, take_inventory

RED, BLUE = encoded("red"), encoded("blue")
CODES = ("en", "de")
SAMPLES: Samples = {
    "a": (RED, {"en": ["A red square.", "Red."], "de": ["Ein rotes Quadrat."]}),
    "b": (BLUE, {"de": ["Blau."], "fr": ["Bleu."]}),
    "c": (RED, {"fr": ["Rouge."]}),
    "d": (None, {"en": ["Nothing to see."]}),
}
EXPECTED = [
    Sample("a", RED, {"en": ("A red square.", "Red."), "de": ("Ein rotes Quadrat.",)}),
    Sample("b", BLUE, {"de": ("Blau.",)}),
    Sample("d", None, {"en": ("Nothing to see.",)}),
]


def test_tar_with_json(tmp_path: Path) -> None:
    write_tar_shard(tmp_path / "s.tar", SAMPLES)
    assert list(read_shard(tmp_path / "s.tar", CODES)) == EXPECTED


def test_tar_with_text_files(tmp_path: Path) -> None:
    write_tar_shard(tmp_path / "s.tar", SAMPLES, text_files=True)
    assert list(read_shard(tmp_path / "s.tar", CODES)) == EXPECTED


def test_parquet(tmp_path: Path) -> None:
    write_parquet_shard(tmp_path / "s.parquet", SAMPLES, ("en", "de", "fr"))
    assert list(read_shard(tmp_path / "s.parquet", CODES)) == EXPECTED


@pytest.mark.parametrize("name", ["s.tar", "s.parquet"])
def test_captions_alone(tmp_path: Path, name: str) -> None:
    if name == "s.tar":
        write_tar_shard(tmp_path / name, SAMPLES)
    else:
        write_parquet_shard(tmp_path / name, SAMPLES, CODES)
    found = list(read_shard(tmp_path / name, CODES, pictures=False))
    assert [sample.captions for sample in found] == [sample.captions for sample in EXPECTED]
    assert not any(sample.picture for sample in found)


@pytest.mark.parametrize(
    ("name", "content"),
    [("s.tar", b"x" * 3000), ("s.parquet", b"PAR1" + b"x" * 300), ("s.parquet", b""), ("s.tar", b"")],
)
def test_what_is_no_shard_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=rf"{name} can't be read as a shard"):
        list(read_shard(tmp_path / name, CODES))


@pytest.mark.parametrize("content", [b"{", b"7", b'{"en": 7}', b"\xff"])
def test_captions_that_are_none_are_named(tmp_path: Path, content: bytes) -> None:
    write_tar(tmp_path / "s.tar", {"a.jpg": RED, "a.json": content})
    with pytest.raises(DataError, match=r"s\.tar can't be read as a shard"):
        list(read_shard(tmp_path / "s.tar", CODES))


def test_a_parquet_file_of_something_else_is_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"name": ["a"]}), tmp_path / "s.parquet")
    with pytest.raises(DataError, match=r"s\.parquet has no column image"):
        list(read_shard(tmp_path / "s.parquet", CODES))


def inventory(folder: Path, seen: list[str] | None = None, codes: tuple[str, ...] = CODES) -> Inventory:
    """The inventory of a folder; `seen` gets its captions."""
    texts = take_inventory(folder, codes)
    while True:
        try:
            text = next(texts)
        except StopIteration as end:
            found = end.value
            assert isinstance(found, Inventory)
            return found
        if seen is not None:
            seen.append(text)


def stream(folder: Path, length: int, seed: int = 0) -> Stream:
    return Stream(folder, inventory(folder), CODES, length, seed)


def shards(folder: Path, sizes: list[int]) -> list[str]:
    """Shards of both kinds; the names of all their samples."""
    names = []
    for number, size in enumerate(sizes):
        samples: Samples = {
            f"{number}-{i}": (RED, {"en": [f"{number} {i}"], "de": [f"{i}"]}) for i in range(size)
        }
        names += list(samples)
        if number % 2:
            write_parquet_shard(folder / f"{number}.parquet", samples, CODES)
        else:
            write_tar_shard(folder / f"{number}.tar", samples)
    return names


@settings(max_examples=25)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 12), st.integers(0, 2))
def test_the_windows_of_a_pass_hold_every_sample_once_at_most(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], length: int, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    names = shards(folder, sizes)
    made = stream(folder, length, seed)
    found = [[sample.name for sample in made.samples(n)] for n in range(made.windows)]
    flat = [name for window in found for name in window]
    assert len(set(flat)) == len(flat)
    assert set(flat) <= set(names)
    assert {len(window) for window in found} == {min(length, len(names))}
    assert len(names) - len(flat) < length, "what is left over is less than a window"


def test_a_window_depends_on_seed_and_number_alone(tmp_path: Path) -> None:
    shards(tmp_path, [7, 6, 5, 8, 6])
    made = stream(tmp_path, 10)
    names = [[sample.name for sample in made.samples(n)] for n in (5, 1, 0, 5)]
    assert names[0] == names[3]
    assert [s.name for s in stream(tmp_path, 10).samples(5)] == names[0]
    assert made.windows == 3
    passes = [[s.name for n in range(3) for s in made.samples(3 * turn + n)] for turn in (0, 1)]
    others = [s.name for n in range(3) for s in stream(tmp_path, 10, seed=1).samples(n)]
    assert passes[0] != passes[1]
    assert passes[0] != others


def test_a_window_leaves_out_bad_pictures_and_counts_them(tmp_path: Path) -> None:
    samples: Samples = {**SAMPLES, "e": (RED[:100], {"en": ["Cut."]})}
    write_tar_shard(tmp_path / "s.tar", samples)
    window = stream(tmp_path, 10).window(0, 8)
    assert window.data.pictures == ("a", "b")
    assert (window.skipped.missing, window.skipped.undecodable) == (("d",), ("e",))
    assert [(c.picture, c.language) for c in window.data.captions] == [
        (0, "en"),
        (0, "en"),
        (0, "de"),
        (1, "de"),
    ]
    assert window["b"].shape == (8, 8, 3)
    assert np.abs(window["b"].astype(int) - (0, 0, 254)).max() <= 3


def test_rows_about_one_picture_are_one_picture(tmp_path: Path) -> None:
    """As in a table with a row a caption: no batch may hold a picture twice."""
    samples: Samples = {"a": (RED, {"en": ["Red."]})}
    write_parquet_shard(tmp_path / "1.parquet", samples, CODES)
    write_parquet_shard(tmp_path / "2.parquet", {"a": (RED, {"de": ["Rot."]})}, CODES)
    window = stream(tmp_path, 2).window(0, 8)
    assert window.data.pictures == ("a",)
    assert sorted(c.text for c in window.data.captions) == ["Red.", "Rot."]


def test_the_inventory_sees_every_caption_and_is_kept(tmp_path: Path) -> None:
    write_tar_shard(tmp_path / "s.tar", SAMPLES)
    seen: list[str] = []
    found = inventory(tmp_path, seen)
    assert seen == ["A red square.", "Red.", "Ein rotes Quadrat.", "Blau.", "Nothing to see."]
    assert (found.samples, found.captions) == (3, 5)
    found.write(tmp_path / "stream.json")
    assert Inventory.read(tmp_path / "stream.json") == found
    (tmp_path / "stream.json").write_text("{")
    with pytest.raises(DamagedError, match=r"stream\.json can't be read"):
        Inventory.read(tmp_path / "stream.json")
    found.check(tmp_path)
    write_tar_shard(tmp_path / "s.tar", {**SAMPLES, "e": (RED, {"en": ["More."]})})
    with pytest.raises(UsageError, match="contains other shards"):
        found.check(tmp_path)
    assert inventory(tmp_path).sha256 != found.sha256


def test_a_language_without_captions_is_named(tmp_path: Path) -> None:
    write_tar_shard(tmp_path / "s.tar", SAMPLES)
    with pytest.raises(DataError, match="no caption in pt"):
        inventory(tmp_path, codes=("en", "pt"))


def test_a_folder_without_shards_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no \.tar or \.parquet file"):
        inventory(tmp_path)


@pytest.mark.parametrize("kind", ["tar", "parquet"])
def test_reading_takes_no_more_memory_for_more_samples(tmp_path: Path, kind: str) -> None:
    peaks = []
    for count in (400, 4000):
        samples: Samples = {f"{i:05d}": (RED, {"en": [f"Picture {i}."]}) for i in range(count)}
        file = tmp_path / f"{count}.{kind}"
        write_tar_shard(file, samples) if kind == "tar" else write_parquet_shard(file, samples, CODES)
        del samples
        assert sum(1 for _ in read_shard(file, CODES)) == count  # fills the interpreter's free lists
        tracemalloc.start()
        assert sum(1 for _ in read_shard(file, CODES)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
