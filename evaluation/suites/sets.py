"""Aligned text that suites measure on, whose line i means the same in each language, and its vectors."""

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from index.arrays import Vectors
from index.errors import DataError
from index.languages import LANGUAGE_CODE
from index.progress import Progress
from index.storage.files import read_text

MAX_LINES = 5000  # every pair of languages needs several (n, n) matrices in memory
TEXT_PREFIX = "multi30k_train."  # text/multi30k_train.LANG.txt
TRANSLATION_KIND = "human translation of English"


class MeasuredEncoder(Protocol):
    """What a suite measures: a TextEncoder, or another encoder to compare with."""

    def encode(self, texts: Sequence[str], *, language: str = "") -> Vectors:
        """Encode texts of a language as (n, d) rows."""
        ...


@dataclass(frozen=True)
class CaptionLine:
    """A line of photos/captions/LANG.tsv."""

    image: str
    text: str
    source: str


def languages_in(folder: Path, suffix: str, prefix: str = "") -> list[str]:
    """The codes of all files `folder`/`prefix`LANG`suffix`, sorted; none where there is not a folder."""
    names = (path.name for path in folder.glob(f"{prefix}*{suffix}"))
    codes = (name.removeprefix(prefix).removesuffix(suffix) for name in names)
    return sorted(code for code in codes if re.match(LANGUAGE_CODE, code))


def available(folder: Path, suffix: str, known: Collection[str]) -> list[str]:
    """The languages with a file LANG`suffix` in `folder` that `in_common` takes; DataError without it."""
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder: give the data with --data")
    return in_common(folder, languages_in(folder, suffix), known)


def in_common(folder: Path, codes: Sequence[str], known: Collection[str]) -> list[str]:
    """The languages of `codes`, which `folder` has, that are `known`; DataError for fewer than two."""
    languages = [code for code in codes if code in known]
    if len(languages) < 2:
        raise DataError(
            f"{folder} has {', '.join(codes) or 'no language'}, the encoder knows "
            f"{', '.join(sorted(known))}: two languages in common are needed"
        )
    return languages


def read_aligned(
    folder: Path, languages: Sequence[str], *, prefix: str = "", most: int = MAX_LINES
) -> dict[str, list[str]]:
    """language -> stripped lines of `folder`/`prefix`LANG.txt; DataError if one is empty or counts differ."""
    texts = {language: read_lines(folder / f"{prefix}{language}.txt") for language in languages}
    counts = {language: len(lines) for language, lines in texts.items()}
    if len(set(counts.values())) > 1:
        described = ", ".join(f"{language} {count}" for language, count in counts.items())
        raise DataError(
            f"{folder}: the files differ in lines ({described}): line i must say the same in each"
        )
    if max(counts.values()) > most:
        raise DataError(f"{folder}: {max(counts.values())} lines, {most} at most: measure on fewer")
    return texts


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 text file, stripped; DataError if one is empty or the file is not text."""
    lines = [line.strip() for line in read_text(path).strip("\n").split("\n")]
    for number, line in enumerate(lines, 1):
        if not line:
            raise DataError(f"{path} line {number} is empty: every line must hold a sentence")
    return lines


def read_captions(path: Path) -> list[CaptionLine]:
    """The captions of a language, in the file's order; DataError names a line that is not three columns."""
    return [CaptionLine(*row) for row in read_table(path, ("image", "caption", "how it was made"))]


def read_split(path: Path, split: str) -> set[str]:
    """The images of one split of photos/splits.tsv; DataError if there are none."""
    images = {image for image, name in read_table(path, ("image", "split")) if name == split}
    if not images:
        raise DataError(f"{path}: no image is in split {split!r}")
    return images


def by_image(captions: Sequence[CaptionLine], images: Collection[str]) -> dict[str, list[str]]:
    """image -> the texts of its captions, for those of `images` that have some."""
    texts: dict[str, list[str]] = {}
    for caption in captions:
        if caption.image in images:
            texts.setdefault(caption.image, []).append(caption.text)
    return texts


def line_up(
    captions: Mapping[str, Sequence[CaptionLine]], images: Collection[str], *, limit: int | None = None
) -> dict[str, list[str]]:
    """language -> captions, row i of the same image: those of `images` that have a caption in every language.

    Where an image has several, a human translation of English comes before others, then the first in the
    file. The images are in the order of the SHA-256 of their names: the first `limit` are a random sample.
    """
    best: dict[str, dict[str, CaptionLine]] = {}
    for language, rows in captions.items():
        ordered = sorted(rows, key=lambda row: row.source != TRANSLATION_KIND)
        best[language] = {row.image: row for row in reversed(ordered) if row.image in images}
    chosen = shared_images(captions, images)[:limit]
    return {language: [by_image[image].text for image in chosen] for language, by_image in best.items()}


def shared_images(captions: Mapping[str, Sequence[CaptionLine]], images: Collection[str]) -> list[str]:
    """Those of `images` that have a caption in every language, in the order of `line_up`."""
    shared = set(images).intersection(*({row.image for row in rows} for rows in captions.values()))
    return sorted(shared, key=lambda name: hashlib.sha256(name.encode()).hexdigest())


def read_table(path: Path, columns: Sequence[str], *, optional: int = 0) -> list[list[str]]:
    """The rows of a TSV file without a header; DataError names a line that has not all of `columns`, of which
    the last `optional` may be empty."""
    needed = len(columns) - optional
    rows = [line.split("\t") for line in read_text(path).strip("\n").split("\n")]
    for number, row in enumerate(rows, 1):
        if len(row) != len(columns) or not all(row[:needed]):
            raise DataError(f"{path} line {number}: {len(row)} columns, give {' TAB '.join(columns)}")
    return rows


def encode(encoder: MeasuredEncoder, texts: Mapping[str, Sequence[str]]) -> dict[str, Vectors]:
    """language -> (n, d) unit vectors of its texts; DataError if there are none."""
    if not all(texts.values()):
        raise DataError(f"no picture has a caption in each of {', '.join(texts)}: choose fewer languages")
    with Progress(sum(map(len, texts.values())), unit="sentences", label="encode") as bar:
        vectors = {}
        for code, rows in texts.items():
            vectors[code] = encoder.encode(rows, language=code)
            bar.advance(len(rows))
    return {code: rows / np.linalg.norm(rows, axis=1, keepdims=True) for code, rows in vectors.items()}
