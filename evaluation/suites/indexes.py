"""Indexes that suites build to ask them, of lines of which only duplicates are dropped."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from index.answers.translator import Translator
from index.build.build_index import build_index
from index.encoder.text_encoder import TextEncoder
from index.storage.options import DEDUPLICATION_ONLY, Options


def index_of(
    encoder: TextEncoder, lines: Mapping[str, Iterable[str]], folder: Path, *, aligned: bool
) -> Translator:
    """Build an index of the lines of languages in a new folder, and open it."""
    folder.mkdir()
    files = {code: folder / f"{code}.txt" for code in lines}
    for code, path in files.items():
        path.write_text("".join(f"{line}\n" for line in lines[code]), "utf-8")
    out, options = folder / "index", Options(aligned=aligned)
    build_index(encoder.bundle, files, out, cleaning=DEDUPLICATION_ONLY, options=options)
    return Translator.open(out)
