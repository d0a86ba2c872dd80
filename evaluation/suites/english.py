"""Suites that pair each language with English only: picture sets, everyday sentences, machine translations.

Every language with enough lines in the data is measured, whether the encoder knows it or not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.scores import PairScore, Table, mean_measures, score_pair, table_of_pairs
from evaluation.suites.sets import (
    CaptionLine,
    MeasuredEncoder,
    by_image,
    encode,
    languages_in,
    read_aligned,
    read_captions,
    read_split,
)
from index.arrays import Vectors
from index.errors import DataError
from index.vectors.neighbourhoods import csls

ENGLISH = "en"
EVERYDAY_PREFIX = "everyday_"  # benchmark/everyday_LANG
HALVES = {"dev": 0, "test": 1}  # which of two lines
FEWEST_LINES = 5  # of a language: a figure from fewer is meaningless


@dataclass(frozen=True)
class Lines:
    """A language's lines, their English counterparts, and further English lines that are wrong answers."""

    foreign: Sequence[str]
    english: Sequence[str]
    more_english: Sequence[str] = ()


def picture_sets(encoder: MeasuredEncoder, data: Path, known: Sequence[str]) -> list[Table]:
    """Suite `sets`: a table for each picture set of `data` except photos, a caption for each test picture."""
    sets = sorted(
        folder.parent for folder in data.glob("*/captions") if (folder.parent / "splits.tsv").is_file()
    )
    tables = [_picture_set(encoder, folder, known) for folder in sets if folder.name != "photos"]
    if not tables:
        raise DataError(f"{data} has no picture set besides photos: a folder with captions/ and splits.tsv")
    return tables


def _picture_set(encoder: MeasuredEncoder, folder: Path, known: Sequence[str]) -> Table:
    images = read_split(folder / "splits.tsv", "test")
    given = folder / "captions"
    codes = languages_in(given, ".tsv")
    if ENGLISH not in codes:
        raise DataError(f"{given} has no {ENGLISH}.tsv: each language is measured with English")
    captions = {code: read_captions(given / f"{code}.tsv") for code in codes}
    # Of pictures with the same English caption one is kept: rounding would decide which of them is found.
    distinct = {rows[0]: image for image, rows in by_image(captions[ENGLISH], images).items()}
    english = {image: text for text, image in distinct.items()}
    lines = {}
    for code, rows in captions.items():
        foreign = {image: texts[0] for image, texts in by_image(rows, images).items() if image in english}
        others = [text for image, text in english.items() if image not in foreign]
        lines[code] = Lines(list(foreign.values()), [english[image] for image in foreign], others)
    note = (
        f"A caption a picture of split test, long pages whole. Into English all {len(english)} different "
        "English ones are candidates, from English those of the language."
    )
    return with_english(encoder, folder.name, note, lines, known, chance=True)


def everyday(encoder: MeasuredEncoder, data: Path, known: Sequence[str]) -> list[Table]:
    """Suite `everyday`: `data`/benchmark/everyday_LANG, each language's lines with their English.

    Odd lines (`dev`) are for choosing by, even lines (`test`) for reporting; all of them are candidates.
    """
    folders = {
        path.name.removeprefix(EVERYDAY_PREFIX): path
        for path in sorted((data / "benchmark").glob(f"{EVERYDAY_PREFIX}*"))
    }
    if not folders:
        raise DataError(f"{data / 'benchmark'} has no folder {EVERYDAY_PREFIX}LANG with en.txt and LANG.txt")
    texts = {code: read_aligned(folder, [code, ENGLISH]) for code, folder in folders.items()}
    vectors = _encoded(encoder, {code: Lines(both[code], both[ENGLISH]) for code, both in texts.items()})
    tables = []
    for half, first in HALVES.items():
        order = {key: np.concatenate([rows[first::2], rows[1 - first :: 2]]) for key, rows in vectors.items()}
        asked = {code: len(vectors[code][first::2]) for code in texts}
        note = f"Line i is the same in both. Asked: the {'even' if first else 'odd'} lines; candidates: all."
        tables.append(_scored(f"everyday sentences, {half}", note, order, asked, known))
    return tables


def machine_translated(encoder: MeasuredEncoder, folder: Path, known: Sequence[str]) -> Iterator[Table]:
    """Yield a table for `folder`_machine, if it exists: machine translations of the English lines."""
    machine = folder.with_name(f"{folder.name}_machine")
    codes = languages_in(machine, ".txt")
    if codes:
        english = read_aligned(folder, [ENGLISH])[ENGLISH]
        lines = {code: Lines(read_aligned(machine, [code])[code], english) for code in codes}
        if any(len(aligned.foreign) != len(english) for aligned in lines.values()):
            raise DataError(f"{machine}: not as many lines as {folder / 'en.txt'}: line i must say the same")
        yield with_english(encoder, machine.name, "Machine translated from English.", lines, known)


def with_english(
    encoder: MeasuredEncoder,
    name: str,
    note: str,
    lines: Mapping[str, Lines],
    known: Sequence[str],
    *,
    chance: bool = False,
) -> Table:
    """Score retrieval from each language into English and back.

    Languages with fewer than FEWEST_LINES are left out. With `chance`, R@10 is also given as a multiple of
    chance, which depends on the number of a language's lines.
    """
    kept = {
        code: aligned
        for code, aligned in lines.items()
        if code != ENGLISH and len(aligned.foreign) >= FEWEST_LINES
    }
    if not kept:
        raise DataError(f"{name}: no language has {FEWEST_LINES} lines that English has too")
    asked = {code: len(aligned.foreign) for code, aligned in kept.items()}
    return _scored(name, note, _encoded(encoder, kept), asked, known, chance=chance)


def _encoded(encoder: MeasuredEncoder, lines: Mapping[str, Lines]) -> dict[str, Vectors]:
    """LANG -> its lines, and "en LANG" -> their English counterparts and the further lines."""
    texts = {code: aligned.foreign for code, aligned in lines.items()}
    texts |= {f"{ENGLISH} {code}": [*one.english, *one.more_english] for code, one in lines.items()}
    return encode(encoder, texts)


def _scored(
    name: str,
    note: str,
    vectors: Mapping[str, Vectors],
    asked: Mapping[str, int],
    known: Sequence[str],
    *,
    chance: bool = False,
) -> Table:
    """Score the first `asked` lines of each language among all English ones, and back."""
    pairs: list[PairScore] = []
    for code, count in asked.items():
        foreign, english = vectors[code], vectors[f"{ENGLISH} {code}"]
        for source, target, questions, answers in (
            (code, ENGLISH, foreign[:count], english),
            (ENGLISH, code, english[:count], foreign),
        ):
            pair = score_pair(source, target, {source: questions, target: answers})
            if chance:
                times = pair.measures["csls_r10"] / (100 * min(1, 10 / len(answers)))
                pair = replace(pair, measures={**pair.measures, "times_chance": times})
            pairs.append(pair)
    return _table(name, note, pairs, known)


def _table(name: str, note: str, pairs: Sequence[PairScore], known: Sequence[str]) -> Table:
    """Make a table with means for each direction; its note names languages that the encoder does not know."""
    table = table_of_pairs(name, note, pairs)
    directions = {
        "into English": mean_measures([pair for pair in pairs if pair.target == ENGLISH]),
        "from English": mean_measures([pair for pair in pairs if pair.source == ENGLISH]),
    }
    unknown = [code for code in table.languages if code not in known]
    remark = f" The encoder has not learned {', '.join(unknown)}." if unknown else ""
    return replace(table, note=note + remark, means={**table.means, **directions})


def captions_with_english(
    encoder: MeasuredEncoder,
    captions: Mapping[str, Sequence[CaptionLine]],
    images: set[str],
    known: Sequence[str],
) -> Table:
    """Score all captions of `images` in each language among all the English ones, and back.

    Any caption of the same picture is a right answer, since it is not always known which is the translation.
    """
    shown = {
        code: [caption for caption in listed if caption.image in images] for code, listed in captions.items()
    }
    vectors = encode(
        encoder, {code: [caption.text for caption in listed] for code, listed in shown.items() if listed}
    )
    numbers = {image: number for number, image in enumerate(sorted(images))}
    pictures = {code: np.array([numbers[caption.image] for caption in shown[code]]) for code in vectors}
    pairs = [
        _score_captions(source, target, vectors, pictures)
        for code in vectors
        if code != ENGLISH
        for source, target in ((code, ENGLISH), (ENGLISH, code))
    ]
    note = (
        f"All captions of {len(images)} pictures of split test; an answer of the same picture is right. "
        "Candidates are the captions of pictures that have some in both languages."
    )
    return _table("photos, with English", note, pairs, known)


def _score_captions(
    source: str, target: str, vectors: Mapping[str, Vectors], pictures: Mapping[str, NDArray[np.int64]]
) -> PairScore:
    """Per cent of captions in `source` with one of the same picture nearest, or among ten, in `target`."""
    in_target = np.isin(pictures[source], pictures[target])
    in_source = np.isin(pictures[target], pictures[source])
    questions, answers = pictures[source][in_target], pictures[target][in_source]
    scores = csls(vectors[source][in_target] @ vectors[target][in_source].T)
    nearest = np.argpartition(-scores, min(9, scores.shape[1] - 1), axis=1)[:, :10]
    first_answers = answers[scores.argmax(axis=1)]
    measures = {
        "csls_r1": 100 * float(np.mean(first_answers == questions)),
        "csls_r10": 100 * float(np.mean((answers[nearest] == questions[:, None]).any(axis=1))),
    }
    return PairScore(source, target, len(questions), measures)
