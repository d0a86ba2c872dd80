"""Suites that measure each language with English alone: picture sets, everyday sentences, translations.

Every language is measured for which the data has enough lines, whether the encoder knows it or not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.scores import PairScore, Table, mean_measures, score_pair, table_of_pairs
from evaluation.suites.sets import (
    Caption,
    encode,
    languages_in,
    read_aligned,
    read_captions,
    read_split,
)
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.errors import DataError
from index.search.hubness import csls

ENGLISH = "en"
EVERYDAY = "everyday_"  # benchmark/everyday_LANG
MANY = 300  # captions of a language, for a mean of its own: fewer leave a handful in split test
FEWEST = 5  # lines of a language: a figure of fewer says nothing


@dataclass(frozen=True)
class Lines:
    """A language's lines, the same in English, and English lines that are answers to none of them."""

    own: Sequence[str]
    english: Sequence[str]
    more: Sequence[str] = ()


def picture_sets(
    encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str]
) -> list[Table]:
    """A table for each picture set of `data` but the photographs: captions of split test, line by picture."""
    sets = sorted(
        folder.parent for folder in data.glob("*/captions") if (folder.parent / "splits.tsv").is_file()
    )
    tables = [_picture_set(encoder, folder, known, chosen) for folder in sets if folder.name != "photos"]
    if not tables:
        raise DataError(f"{data} has no picture set besides photos: a folder with captions/ and splits.tsv")
    return tables


def _picture_set(encoder: TextEncoder, folder: Path, known: Sequence[str], chosen: Sequence[str]) -> Table:
    images = read_split(folder / "splits.tsv", "test")
    captions = {
        code: read_captions(folder / "captions" / f"{code}.tsv") for code in _languages(folder / "captions")
    }
    # One of the pictures that English calls the same: which one is right, rounding would decide.
    different = {rows[0]: image for image, rows in _by_picture(captions[ENGLISH], images)}
    english = {image: text for text, image in different.items()}
    lines = {}
    for code, rows in captions.items():
        own = {image: texts[0] for image, texts in _by_picture(rows, images) if image in english}
        more = [text for image, text in english.items() if image not in own]
        lines[code] = Lines(list(own.values()), [english[image] for image in own], more)
    note = (
        f"A caption a picture of split test, long pages whole. Into English all {len(english)} different "
        "English ones are candidates, from English those of the language."
    )
    table = with_english(encoder, folder.name, note, lines, known, chosen, chance=True)
    many = [code for code, rows in captions.items() if len(rows) >= MANY and code in table.languages]
    if 1 < len(many) < len(table.languages):
        inside = [pair for pair in table.pairs if {pair.source, pair.target} <= {*many, ENGLISH}]
        label = f"{len(many) - (ENGLISH in many)} languages of {MANY} captions"
        table = replace(table, means={**table.means, label: mean_measures(inside)})
    return table


def _by_picture(captions: Sequence[Caption], images: set[str]) -> Iterator[tuple[str, list[str]]]:
    """The captions of each of `images` that has some."""
    texts: dict[str, list[str]] = {}
    for caption in captions:
        if caption.image in images:
            texts.setdefault(caption.image, []).append(caption.text)
    yield from texts.items()


def _languages(folder: Path) -> list[str]:
    codes = languages_in(folder, ".tsv")
    if ENGLISH not in codes:
        raise DataError(f"{folder} has no {ENGLISH}.tsv: each language is measured with English")
    return codes


def everyday(encoder: TextEncoder, data: Path, known: Sequence[str], chosen: Sequence[str]) -> list[Table]:
    """What people say: `data`/benchmark/everyday_LANG, each language's lines with its own English."""
    folders = {
        path.name.removeprefix(EVERYDAY): path for path in sorted((data / "benchmark").glob(f"{EVERYDAY}*"))
    }
    if not folders:
        raise DataError(f"{data / 'benchmark'} has no folder {EVERYDAY}LANG with en.txt and LANG.txt")
    lines = {}
    for code, folder in folders.items():
        texts = read_aligned(folder, [code, ENGLISH])
        lines[code] = Lines(texts[code], texts[ENGLISH])
    return [with_english(encoder, "everyday sentences", "Line i is the same in both.", lines, known, chosen)]


def machine_translated(
    encoder: TextEncoder, folder: Path, known: Sequence[str], chosen: Sequence[str]
) -> Iterator[Table]:
    """The set `folder`_machine, where there is one: machine translations of the English lines of `folder`."""
    machine = folder.with_name(f"{folder.name}_machine")
    codes = languages_in(machine, ".txt")
    if codes:
        english = read_aligned(folder, [ENGLISH])[ENGLISH]
        lines = {code: Lines(read_aligned(machine, [code])[code], english) for code in codes}
        if any(len(both.own) != len(english) for both in lines.values()):
            raise DataError(f"{machine}: not as many lines as {folder / 'en.txt'}: line i must say the same")
        yield with_english(encoder, machine.name, "Machine translated from English.", lines, known, chosen)


def with_english(
    encoder: TextEncoder,
    name: str,
    note: str,
    lines: Mapping[str, Lines],
    known: Sequence[str],
    chosen: Sequence[str],
    *,
    chance: bool = False,
) -> Table:
    """Score retrieval from each language into English and back.

    Languages with fewer lines than FEWEST are left out. With `chance` R@10 is also given as a multiple of
    chance, which differs where languages have not equally many lines.
    """
    kept = {code: both for code, both in lines.items() if code != ENGLISH and len(both.own) >= FEWEST}
    if not kept:
        raise DataError(f"{name}: no language has {FEWEST} lines that English has too")
    english = {f"{ENGLISH} {code}": [*both.english, *both.more] for code, both in kept.items()}
    vectors = encode(encoder, {**{code: both.own for code, both in kept.items()}, **english})
    pairs: list[PairScore] = []
    for code, both in kept.items():
        own, candidates = vectors[code], vectors[f"{ENGLISH} {code}"]
        for source, target, asked, held in (
            (code, ENGLISH, own, candidates),
            (ENGLISH, code, candidates[: len(both.own)], own),
        ):
            pair = score_pair(source, target, {source: asked, target: held})
            pairs.append(_with_chance(pair, len(held)) if chance else pair)
    return _table(name, note, pairs, known, chosen)


def _with_chance(pair: PairScore, candidates: int) -> PairScore:
    times = pair.measures["csls_r10"] / (100 * min(1, 10 / candidates))
    return replace(pair, measures={**pair.measures, "times_chance": times})


def _table(
    name: str, note: str, pairs: Sequence[PairScore], known: Sequence[str], chosen: Sequence[str]
) -> Table:
    """Add means of each direction, and to the note the languages that the encoder has not learned."""
    table = table_of_pairs(name, note, pairs, chosen)
    ways = {
        "into English": [pair for pair in pairs if pair.target == ENGLISH],
        "from English": [pair for pair in pairs if pair.source == ENGLISH],
    }
    unknown = [code for code in table.languages if code not in known]
    said = f" The encoder has not learned {', '.join(unknown)}." if unknown else ""
    means = {**table.means, **{label: mean_measures(of) for label, of in ways.items()}}
    return replace(table, note=note + said, means=means)


def captions_with_english(
    encoder: TextEncoder,
    captions: Mapping[str, Sequence[Caption]],
    images: set[str],
    known: Sequence[str],
    chosen: Sequence[str],
) -> Table:
    """Score all captions of `images` in each language among all the English ones, and back.

    Right is a caption of the same picture: which of its five is the translation is not always known.
    """
    rows = {code: [caption for caption in of if caption.image in images] for code, of in captions.items()}
    vectors = encode(encoder, {code: [caption.text for caption in of] for code, of in rows.items() if of})
    number = {image: place for place, image in enumerate(sorted(images))}
    pictures = {code: np.array([number[caption.image] for caption in rows[code]]) for code in vectors}
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
    return _table("photos, with English", note, pairs, known, chosen)


def _score_captions(
    source: str, target: str, vectors: Mapping[str, Vectors], pictures: Mapping[str, NDArray[np.int64]]
) -> PairScore:
    """Per cent of the captions in `source` with one of the same picture among the k nearest in `target`."""
    asked, held = (
        np.isin(pictures[code], pictures[other]) for code, other in ((source, target), (target, source))
    )
    questions, answers = pictures[source][asked], pictures[target][held]
    scores = csls(vectors[source][asked] @ vectors[target][held].T)
    nearest = np.argpartition(-scores, min(9, scores.shape[1] - 1), axis=1)[:, :10]
    best = answers[scores.argmax(axis=1)]
    measures = {
        "csls_r1": 100 * float(np.mean(best == questions)),
        "csls_r10": 100 * float(np.mean((answers[nearest] == questions[:, None]).any(axis=1))),
    }
    return PairScore(source, target, len(questions), measures)
