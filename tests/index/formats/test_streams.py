"""Decompression by extension, and what of it is refused."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from index.errors import CorpusError
from index.formats.streams import open_stream, plain_suffixes, read_lines

TEXT = "".join(f"line {number} é\n" for number in range(20_000)).encode()


def zst(content: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd").compress(content, asbytes=True)
    return packed


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zst,
}
each = pytest.mark.parametrize("suffix", COMPRESSED)


@each
def test_compressed_files_read_as_plain_ones(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.txt.{suffix}"
    path.write_bytes(COMPRESSED[suffix](TEXT))
    lines = list(read_lines(path))
    assert len(lines) == 20_000
    assert lines[0] == (1, "line 0 é\n")
    assert "".join(line for _, line in lines).encode() == TEXT


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
def test_streams_that_follow_one_another_are_one_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(COMPRESSED[suffix](b"one\n") + COMPRESSED[suffix](b"two\n"))
    assert list(read_lines(path)) == [(1, "one\n"), (2, "two\n")]


NOISE = b"this is not compressed at all, but a line of text\n" * 9


@each
@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9, None])
def test_truncated_files_and_noise_are_refused_by_name(
    tmp_path: Path, suffix: str, keep: float | None
) -> None:
    path = tmp_path / f"x.{suffix}"
    content = COMPRESSED[suffix](TEXT)
    path.write_bytes(content[: int(keep * len(content))] if keep else NOISE)
    with pytest.raises(CorpusError, match=rf"x\.{suffix}: cannot be read"):
        list(read_lines(path))


@each
def test_bombs_are_refused_after_a_bounded_part(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(COMPRESSED[suffix](b"a" * (1 << 16) * 1300))  # 81 MiB
    read = []
    with pytest.raises(CorpusError, match="expands to over 200 times"), open_stream(path) as file:
        read.extend(len(block) for block in iter(lambda: file.read(1 << 16), b""))
    assert sum(read) <= 64 << 20


def test_an_xz_file_that_asks_for_much_memory_is_refused(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]
    content = bytearray(lzma.compress(b"text\n", filters=filters, check=lzma.CHECK_NONE))
    # The size of the dictionary is a byte of the block header, which carries its own checksum.
    header = content[12 : 12 + (content[12] + 1) * 4]
    header[header.index(0x21) + 2] = 39  # 3 GiB
    import zlib

    header[-4:] = zlib.crc32(header[:-4]).to_bytes(4, "little")
    content[12 : 12 + len(header)] = header
    (tmp_path / "x.xz").write_bytes(content)
    with pytest.raises(CorpusError, match=r"x\.xz: cannot be read .*[Mm]emory"):
        list(read_lines(tmp_path / "x.xz"))


@pytest.mark.parametrize(
    ("name", "wanted"), [("x.de.txt.gz", [".de", ".txt"]), ("x.TMX", [".tmx"]), ("x", []), ("x.gz", [])]
)
def test_extensions_without_compression(name: str, wanted: list[str]) -> None:
    assert plain_suffixes(Path(name)) == wanted
