"""Takes from shared libraries what only linkers and debuggers read: symbols, and the table of sections.

    python docker/strip.py FOLDER

A library is loaded by its segments (ELF's program headers), and what lies behind the last of them is never
read. `strip` would do it, too, but it is not in the base image, and it breaks libraries that were patched.
"""

import struct
import sys
from collections.abc import Iterable
from pathlib import Path

MAGIC = b"\x7fELF\x02\x01"  # 64 bits, the lower byte first
PROGRAM_HEADERS, SECTION_HEADERS = 32, 40  # where a file says where they are
SIZES = 54  # of a program header, their number, and the same of section headers, 2 bytes each
SEGMENT = struct.Struct("<8xQ16xQ")  # a program header: the place and the length of what it is of


def loaded(content: bytes | bytearray) -> int:
    """The length of the part of a library that is loaded, with its headers."""
    (start,) = struct.unpack_from("<Q", content, PROGRAM_HEADERS)
    size, count = struct.unpack_from("<HH", content, SIZES)
    segments = [SEGMENT.unpack_from(content, start + size * number) for number in range(count)]
    return int(max([start + size * count, *(place + length for place, length in segments)]))


def strip(path: Path) -> int:
    """Shorten a library; by how many bytes. What is no library stays."""
    content = bytearray(path.read_bytes())
    if not content.startswith(MAGIC):
        return 0
    end = loaded(content)
    struct.pack_into("<Q", content, SECTION_HEADERS, 0)
    struct.pack_into("<HHH", content, SIZES + 4, 0, 0, 0)
    path.write_bytes(content[:end])
    return len(content) - end


def libraries(folder: Path) -> Iterable[Path]:
    return (path for path in folder.rglob("*.so*") if path.is_file() and not path.is_symlink())


if __name__ == "__main__":
    gained = sum(map(strip, libraries(Path(sys.argv[1]))))
    sys.stdout.write(f"{gained / 1e6:.0f} MB of symbols left out\n")
