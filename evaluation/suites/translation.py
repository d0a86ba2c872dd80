"""Suites of sentence translation: multi30k, aligned, scenes, photos, pictograms.

A suite reads its text, encodes it, and returns the tables of a report.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from evaluation.measures.scores import Table, score_pool, score_translation
from evaluation.suites.english import ENGLISH, captions_with_english, machine_translated
from evaluation.suites.pictograms import held_out_names, is_flag
from evaluation.suites.sets import (
    TRANSLATION_KIND,
    CaptionLine,
    MeasuredEncoder,
    available,
    by_image,
    encode,
    line_up,
    read_aligned,
    read_captions,
    read_split,
)
from index.arrays import Vectors
from index.build.probes import SAYINGS

BENCHMARK = "multi30k_test_2016"
ONE_POOL = "photos, one pool"  # the table of Globetrotter's measure
CAPTIONS = 5  # of a picture, by as many people
POOL_CAPTIONS = 200  # captions a language in Globetrotter's measure (5.2)


def multi30k(encoder: MeasuredEncoder, data: Path, known: Sequence[str]) -> list[Table]:
    """Suite `multi30k`: the public test set `data`/benchmark/multi30k_test_2016/LANG.txt.

    If multi30k_test_2016_machine is beside it, its machine translations are paired with the English lines.
    """
    folder = data / "benchmark" / BENCHMARK
    return [
        *aligned(encoder, folder, known),
        *machine_translated(encoder, folder, known),
    ]


def scenes(encoder: MeasuredEncoder, data: Path, known: Sequence[str]) -> list[Table]:
    """Suite `scenes`: the shipped sentences, `data` = corpora/everyday; scenes and sayings separately."""
    texts = read_aligned(data, available(data, ".txt", known))
    vectors = encode(encoder, texts)
    parts = {
        "everyday scenes": {code: np.delete(rows, SAYINGS, axis=0) for code, rows in vectors.items()},
        "everyday sayings": {code: rows[SAYINGS] for code, rows in vectors.items()},
    }
    note = "Line i is the same in each."
    return [
        score_translation(name, note, part) for name, part in parts.items() if len(next(iter(part.values())))
    ]


def aligned(encoder: MeasuredEncoder, data: Path, known: Sequence[str]) -> list[Table]:
    """Suite `aligned`: any folder of files LANG.txt whose line i means the same in each."""
    texts = read_aligned(data, available(data, ".txt", known))
    return [score_translation(data.resolve().name, "Line i is the same in each.", encode(encoder, texts))]


def photos(encoder: MeasuredEncoder, data: Path, known: Sequence[str]) -> list[Table]:
    """Suite `photos`: captions of `data`/photos, split test, measured in four ways.

    Translations of the same English sentence, for languages that have them; Globetrotter's measure over all
    languages; all captions of each language paired with English; and English captions of the same picture.
    """
    folder = data / "photos"
    languages = available(folder / "captions", ".tsv", known)
    captions = {code: read_captions(folder / "captions" / f"{code}.tsv") for code in languages}
    images = read_split(folder / "splits.tsv", "test")
    translated = {
        code: [row for row in rows if row.source == TRANSLATION_KIND and row.image in images]
        for code, rows in captions.items()
    }
    parts = {code: rows for code, rows in translated.items() if rows}
    tables = []
    if len(parts) > 1:
        note = "Human translations of one English caption, a line a picture of split test."
        vectors = encode(encoder, line_up(parts, images))
        tables.append(score_translation("photos, translations", note, vectors))
    note = (
        "All captions in one pool: per cent of a caption's M - 1 counterparts in the other languages found "
        "among its M - 1 nearest. Counterparts describe one picture of split test; not all are translations."
    )
    pool = line_up(_widely(captions, images), images, limit=POOL_CAPTIONS)
    tables.append(score_pool(ONE_POOL, note, encode(encoder, pool)))
    if ENGLISH in captions:
        tables.append(captions_with_english(encoder, captions, images, known))
        tables += _paraphrases(encoder, captions[ENGLISH], images)
    return tables


def _paraphrases(
    encoder: MeasuredEncoder, captions: Sequence[CaptionLine], images: Collection[str]
) -> list[Table]:
    """How often an English caption finds another of its picture, each of CAPTIONS among as many as pictures.

    No table where no picture has so many.
    """
    rows = [texts[:CAPTIONS] for texts in by_image(captions, images).values() if len(texts) >= CAPTIONS]
    if not rows:
        return []
    vectors = encode(encoder, {ENGLISH: [text for texts in rows for text in texts]})[ENGLISH]
    by_place = {f"{ENGLISH} {place + 1}": vectors[place::CAPTIONS] for place in range(CAPTIONS)}
    note = f"The {CAPTIONS} English captions of a picture of split test find each other, one in each column."
    return [score_translation("photos, paraphrases", note, by_place)]


def _widely(
    captions: Mapping[str, Sequence[CaptionLine]], images: Collection[str]
) -> dict[str, Sequence[CaptionLine]]:
    """Drop languages with captions of few `images`, less than a tenth of the largest language's.

    The pool has only images with captions in all languages.
    """
    counts = {code: len({row.image for row in rows} & set(images)) for code, rows in captions.items()}
    most = max(counts.values())
    return {code: rows for code, rows in captions.items() if 10 * counts[code] >= most}


def pictograms(encoder: MeasuredEncoder, data: Path, known: Sequence[str]) -> list[Table]:
    """Suite `pictograms`: the names of held-out pictograms in `data`/pictograms.

    Measured with all of them, and without flags, which are named after countries.
    """
    codes, names = held_out_names(data, known)
    vectors = encode(encoder, names)
    tables = [_names("pictograms, held out", vectors)]
    rows = [row for row, code in enumerate(codes) if not is_flag(code)]
    if 2 <= len(rows) < len(codes):
        without_flags = {language: names_of[rows] for language, names_of in vectors.items()}
        tables.append(_names("pictograms, held out, without flags", without_flags))
    return tables


def _names(name: str, vectors: Mapping[str, Vectors]) -> Table:
    n = len(next(iter(vectors.values())))
    chance = ", ".join(f"R@{k} {100 * min(1, k / n):.1f}" for k in (1, 5, 10))
    note = f"Names of concepts of which no drawing is learned from. By chance: {chance}."
    return score_translation(name, note, vectors)
