"""Suites of sentence translation: multi30k, aligned, scenes, photos, pictograms.

A suite reads its text, has it encoded, and gives the tables of a report.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from evaluation.measures.calibration import with_calibration
from evaluation.measures.scores import Table, score_pool, score_translation
from evaluation.suites.english import ENGLISH, captions_with_english, machine_translated
from evaluation.suites.pictograms import held_out_names, is_flag
from evaluation.suites.sets import (
    TRANSLATION,
    Caption,
    available,
    encode,
    line_up,
    read_aligned,
    read_captions,
    read_split,
)
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors

SCENES = 928  # the first lines of corpora/everyday; what people say comes after them
ONE_POOL = "photos, one pool"  # the table of Globetrotter's measure
POOL = 200  # captions a language in Globetrotter's measure (5.2)


def multi30k(encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str]) -> list[Table]:
    """The public test set: `data`/benchmark/multi30k_test_2016/LANG.txt, and with its English lines what
    lies beside it in multi30k_test_2016_machine."""
    folder = data / "benchmark" / "multi30k_test_2016"
    return [
        *aligned(encoder, folder, known, chosen),
        *machine_translated(encoder, folder, known, chosen),
    ]


def scenes(encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str]) -> list[Table]:
    """The shipped sentences, `data` = corpora/everyday: the scenes, and what people say, each by itself."""
    texts = read_aligned(data, available(data, ".txt", known, chosen))
    vectors = encode(encoder, texts)
    parts = {"everyday scenes": slice(SCENES), "everyday sayings": slice(SCENES, None)}
    note = "Line i is the same in each."
    return [
        _scored(encoder, name, note, {code: rows[lines] for code, rows in vectors.items()}, chosen)
        for name, lines in parts.items()
        if len(next(iter(vectors.values()))[lines])
    ]


def aligned(encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str]) -> list[Table]:
    """Any folder of files LANG.txt whose line i says the same in each."""
    texts = read_aligned(data, available(data, ".txt", known, chosen))
    return [
        _scored(encoder, data.resolve().name, "Line i is the same in each.", encode(encoder, texts), chosen)
    ]


def _scored(
    encoder: TextEncoder, name: str, note: str, vectors: Mapping[str, Vectors], chosen: Sequence[str]
) -> Table:
    table = score_translation(name, note, vectors, chosen)
    return with_calibration(table, vectors, encoder.bundle.manifest.calibration, chosen)


def photos(encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str]) -> list[Table]:
    """Captions of `data`/photos, split test: translations of one English sentence, where two languages have
    them; Globetrotter's measure over all languages; and each with English, all captions."""
    folder = data / "photos"
    languages = available(folder / "captions", ".tsv", known, chosen)
    captions = {code: read_captions(folder / "captions" / f"{code}.tsv") for code in languages}
    images = read_split(folder / "splits.tsv", "test")
    translated = {
        code: [row for row in rows if row.source == TRANSLATION and row.image in images]
        for code, rows in captions.items()
    }
    parts = {code: rows for code, rows in translated.items() if rows}
    tables = [_translations(encoder, line_up(parts, images), chosen)] if len(parts) > 1 else []
    tables.append(_pool(encoder, line_up(_widely(captions, images, chosen), images, limit=POOL), chosen))
    if ENGLISH in captions:
        tables.append(captions_with_english(encoder, captions, images, known, chosen))
    return tables


def _widely(
    captions: Mapping[str, Sequence[Caption]], images: Collection[str], chosen: Sequence[str]
) -> dict[str, Sequence[Caption]]:
    """Without the languages, but for the chosen ones, in which fewer than a tenth as many `images` have
    a caption as in another: the pool is of images with captions in all."""
    counts = {code: len({row.image for row in rows} & set(images)) for code, rows in captions.items()}
    most = max(counts.values())
    return {code: rows for code, rows in captions.items() if code in chosen or 10 * counts[code] >= most}


def _translations(encoder: TextEncoder, texts: Mapping[str, Sequence[str]], chosen: Sequence[str]) -> Table:
    note = "Human translations of one English caption, a line a picture of split test."
    return _scored(encoder, "photos, translations", note, encode(encoder, texts), chosen)


def _pool(encoder: TextEncoder, texts: Mapping[str, Sequence[str]], chosen: Sequence[str]) -> Table:
    note = (
        "All captions in one pool: per cent of a caption's M - 1 counterparts in the other languages found "
        "among its M - 1 nearest. Counterparts describe one picture of split test; not all are translations."
    )
    return score_pool(ONE_POOL, note, encode(encoder, texts), chosen)


def pictograms(encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str]) -> list[Table]:
    """Names of pictograms that no recipe learns from, `data`/pictograms: all of them, and without the flags,
    which are called after countries."""
    codes, names = held_out_names(data, known, chosen)
    vectors = encode(encoder, names)
    tables = [_names(encoder, "pictograms, held out", vectors, chosen)]
    rows = [row for row, code in enumerate(codes) if not is_flag(code)]
    if 2 <= len(rows) < len(codes):
        without_flags = {language: names_of[rows] for language, names_of in vectors.items()}
        tables.append(_names(encoder, "pictograms, held out, without flags", without_flags, chosen))
    return tables


def _names(encoder: TextEncoder, name: str, vectors: Mapping[str, Vectors], chosen: Sequence[str]) -> Table:
    n = len(next(iter(vectors.values())))
    chance = ", ".join(f"R@{k} {100 * min(1, k / n):.1f}" for k in (1, 5, 10))
    note = f"Names of concepts of which no drawing is learned from. By chance: {chance}."
    return _scored(encoder, name, note, vectors, chosen)
