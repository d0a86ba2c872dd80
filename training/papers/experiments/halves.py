"""Sentences in two halves, the second one its own or another sentence's (globetrotter, A.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from evaluation.suites.corpus import TOKENISERS
from evaluation.suites.sets import Caption, available, read_captions, read_split
from index.errors import DataError
from index.text.languages import language
from index.text.normalisation import words
from training.data.tokens import SEQUENCE

FEWEST = 4  # words of a sentence that is worth cutting
TESTED = 0.2  # share of the pictures whose captions are never trained on


@dataclass(frozen=True)
class Halves:
    """A sentence: the words of its halves, whether they belong together, and its picture."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    belong: bool
    image: str


@dataclass(frozen=True)
class Part:
    """Language -> halves of captions of the pictures to train on, and of the pictures to test on."""

    train: Mapping[str, list[Halves]]
    test: Mapping[str, list[Halves]]


def read_halves(data: Path, languages: Sequence[str], seed: int) -> Part:
    """Captions of split test of every one of `languages` that has some, cut and half of them swapped."""
    photos = data / "photos"
    codes = sorted(available(photos / "captions", ".tsv", languages, ()))
    images = sorted(read_split(photos / "splits.tsv", "test"))
    draw = np.random.default_rng(seed)
    tested = {images[i] for i in draw.permutation(len(images))[: max(1, round(TESTED * len(images)))]}
    train, test = {}, {}
    for code in codes:
        rows = [row for row in read_captions(photos / "captions" / f"{code}.tsv") if row.image in set(images)]
        train[code] = swapped([row for row in rows if row.image not in tested], code, draw)
        test[code] = swapped([row for row in rows if row.image in tested], code, draw)
        if not train[code] or not test[code]:
            raise DataError(f"{photos}: too few captions of split test in {code} have {FEWEST} words or more")
    return Part(train, test)


def swapped(captions: Sequence[Caption], code: str, draw: np.random.Generator) -> list[Halves]:
    """As many sentences with their own second half as with another's, in random order.

    Words are lower-cased and without punctuation, sentences are cut in the middle, between words, and second
    halves change places among sentences of equally many words about different pictures: neither spelling nor
    length nor the second half by itself tells which is which.
    """
    by_length: dict[int, list[Halves]] = {}
    for caption in captions:
        found = words(caption.text, code)
        if len(found) >= FEWEST:
            cut = len(found) // 2
            halves = Halves(tuple(found[:cut]), tuple(found[cut:]), True, caption.image)
            by_length.setdefault(len(found), []).append(halves)
    whole, mixed = [], []
    for alike in by_length.values():
        order = [alike[i] for i in draw.permutation(len(alike))]
        some = order[: len(order) // 2]
        mixed += _exchanged(some)
        whole += order[len(order) // 2 :]
    size = min(len(whole), len(mixed))
    every = [rows[i] for rows in (whole, mixed) for i in draw.permutation(len(rows))[:size]]
    return [every[i] for i in draw.permutation(len(every))]


def _exchanged(some: Sequence[Halves]) -> list[Halves]:
    """Each with the second half of the next, where that is about another picture and says something else."""
    return [
        Halves(one.first, other.second, False, one.image)
        for one, other in zip(some, [*some[1:], *some[:1]], strict=True)
        if one.image != other.image and one.second != other.second
    ]


def tokens(
    tokenizer: Tokenizer, samples: Sequence[Halves], code: str, most: int
) -> list[tuple[list[int], int]]:
    """Ids of each sample, `most` of them at most, and how many of them are of the first half."""
    plain = Tokenizer.from_str(tokenizer.to_str())
    plain.no_padding()
    space = "" if language(code).script in TOKENISERS else " "
    start = [] if (number := _sequence(plain)) is None else [number]
    found = []
    for sample in samples:
        one, other = (
            plain.encode(space.join(half), add_special_tokens=False).ids
            for half in (sample.first, sample.second)
        )
        found.append(((start + one + other)[:most], min(len(start) + len(one), most)))
    return found


def _sequence(tokenizer: Tokenizer) -> int | None:
    """The id of <seq>, where the tokenizer puts it first."""
    number: int | None = tokenizer.token_to_id(SEQUENCE)
    return number if tokenizer.post_processor is not None else None
