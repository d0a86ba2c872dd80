"""Plain text: one sentence a line, UTF-8; `.gz` by extension. Read as a stream."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from index.errors import CorpusError
from index.text import clean

LONGEST_LINE = 1 << 20  # bytes


def read_txt(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, cleaned sentence) of every line, empty ones included.

    Raises CorpusError for a file that cannot be read and a line that is not UTF-8 or longer than 1 MiB.
    """
    try:
        with _open(path) as file:
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                yield number, _decode(path, number, line)
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _decode(path: Path, number: int, line: bytes) -> str:
    if len(line) > LONGEST_LINE:
        raise CorpusError(f"{path}, line {number}: longer than {LONGEST_LINE} bytes: one sentence a line")
    try:
        return clean(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path}, line {number}: not UTF-8: save the file as UTF-8") from error
