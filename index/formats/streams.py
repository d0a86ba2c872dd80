"""Corpus files as byte streams, decompressed by extension (.gz .bz2 .xz .zst), and as numbered lines.

Decompressed data may not exceed the larger of 64 MiB and 200 times the file: text compresses by 3 to 20,
bombs by 1000.
"""

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from index.errors import CorpusError
from index.formats.sentence import BadUnit, UnitError, is_text

LONGEST_LINE = 1 << 20  # characters
LONGEST_FILE = 64 << 20  # bytes, of a file that is held in memory
RATIO, ALWAYS_ALLOWED = 200, 64 << 20  # decompressed bytes: times the file; allowed for any file
XZ_MEMORY = 256 << 20  # bytes; `xz -9` needs 65 MiB, a hostile header demands 4 GiB
READ_BYTES = 1 << 16  # bytes read at a time
STREAM_CHARSETS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@contextmanager
def open_stream(path: Path) -> Iterator[BinaryIO]:
    """Open the decompressed bytes. CorpusError if the file cannot be read, on opening and while reading."""
    try:
        with path.open("rb") as file, _decompressed(path, file) as stream:
            yield stream
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise CorpusError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error


def read_whole(path: Path, longest: int = LONGEST_FILE) -> bytes:
    """Read a file of at most `longest` bytes. Raises CorpusError."""
    with open_stream(path) as file:
        content = file.read(longest + 1)
    if len(content) > longest:
        raise CorpusError(f"{path}: longer than {longest} bytes: divide it")
    return content


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line with its end) of UTF-8 text, lines of at most 1 MiB. Raises CorpusError."""
    for number, line in read_good_lines(path):
        if isinstance(line, BadUnit):
            raise UnitError(path, number, line.reason)
        yield number, line


def read_good_lines(path: Path, encoding: str | None = None) -> Iterator[tuple[int, str | BadUnit]]:
    """Yield lines as `read_lines` does, with a BadUnit for a line that is too long or cannot be decoded.

    `encoding`, if it has no byte order mark and is not UTF-8. Raises CorpusError.
    """
    with open_stream(path) as file:
        begin = cast(io.BufferedReader, file).peek(READ_BYTES)
        marked = next((name for mark, name in STREAM_CHARSETS.items() if begin.startswith(mark)), None)
        end = "\r" if b"\r" in begin[:-1] and b"\n" not in begin else "\n"  # as on an old Macintosh
        text = io.TextIOWrapper(file, marked or encoding or "utf-8", "surrogateescape", newline=end)
        number = 0
        try:
            while line := text.readline(LONGEST_LINE + 1):
                number += 1
                reason = None
                if len(line) > LONGEST_LINE:
                    reason = f"longer than {LONGEST_LINE} characters: one sentence a line"
                elif not (line.isascii() or is_text(line)):
                    reason = f"not {_said(encoding)}: save the file as UTF-8"
                yield number, BadUnit(number, reason) if reason else line
                while len(line) > LONGEST_LINE and not line.endswith(end):  # skip the rest of the line
                    line = text.readline(LONGEST_LINE + 1)
        except UnicodeDecodeError as error:
            said = f"not {_said(encoding or error.encoding)}"
            raise CorpusError(f"{path}: {said} ({error.reason}): save the file as UTF-8") from error
        finally:
            text.detach()


def _said(encoding: str | None) -> str:
    return (encoding or "UTF-8").upper()


def plain_suffixes(path: Path) -> list[str]:
    """The extensions of a file without that of its compression: x.de.txt.gz -> [".de", ".txt"]."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return suffixes[:-1] if suffixes and suffixes[-1] in COMPRESSION_OPENERS else suffixes


def _decompressed(path: Path, file: BinaryIO) -> BinaryIO:
    opener = COMPRESSION_OPENERS.get(path.suffix.lower())
    if opener is None:
        return file
    allowed = max(ALWAYS_ALLOWED, RATIO * path.stat().st_size)
    return cast(BinaryIO, io.BufferedReader(_Bounded(path, opener(file), allowed), READ_BYTES))


class _Bounded(io.RawIOBase):
    """At most `allowed` bytes of `source`, an object with `read(size)`; CorpusError beyond them."""

    def __init__(self, path: Path, source: Any, allowed: int) -> None:  # noqa: ANN401 (file-like)
        self._path, self._source, self._left = path, source, allowed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 (a writable buffer, as io.RawIOBase has it)
        block = self._source.read(len(buffer))
        self._left -= len(block)
        if self._left < 0:
            raise CorpusError(
                f"{self._path}: expands to over {RATIO} times its size: decompress it first if you trust it"
            )
        buffer[: len(block)] = block
        return len(block)


class _Xz:
    """lzma.LZMAFile with a memory limit."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder: lzma.LZMADecompressor | None = None
        self._rest = b""

    def read(self, size: int) -> bytes:
        while True:
            decoder = self._decoder or lzma.LZMADecompressor(memlimit=XZ_MEMORY)
            compressed = self._rest
            if not compressed and decoder.needs_input and not (compressed := self._file.read(READ_BYTES)):
                if self._decoder is not None:
                    raise EOFError("the file ends in the middle")
                return b""
            block = decoder.decompress(compressed, size)
            # Streams may follow one another, padded with zeros.
            self._rest = decoder.unused_data.lstrip(b"\0") if decoder.eof else b""
            self._decoder = None if decoder.eof else decoder
            if block:
                return block


def _zst(file: BinaryIO) -> object:
    import pyarrow as pa

    return pa.CompressedInputStream(file, "zstd")


COMPRESSION_OPENERS: dict[str, Callable[[BinaryIO], Any]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".xz": _Xz,
    ".zst": _zst,
}
