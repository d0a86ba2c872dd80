"""Captions cut in two, half of them with another's second half (Globetrotter, A.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from evaluation.suites.corpus import TOKENISERS
from evaluation.suites.sets import Caption, available, read_captions, read_split
from index.errors import DataError
from index.languages import language
from index.text.normalisation import words
from training.data.tokens import SEQUENCE

MIN_WORDS = 4  # of a sentence that is cut
TEST_SHARE = 0.2  # of the pictures, whose captions are only tested on


@dataclass(frozen=True)
class SplitSentence:
    """A sentence: the words of its halves, whether they belong together, and its picture."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    belong: bool
    image: str


@dataclass(frozen=True)
class SplitCaptions:
    """Language -> split captions of the pictures to train on, and of the pictures to test on."""

    train: Mapping[str, list[SplitSentence]]
    test: Mapping[str, list[SplitSentence]]


def read_split_captions(data: Path, languages: Sequence[str], seed: int) -> SplitCaptions:
    """Read captions of split test in those of `languages` that have a file, cut, half of them swapped.

    Raises DataError where a language has too few.
    """
    photos = data / "photos"
    codes = sorted(available(photos / "captions", ".tsv", languages, ()))
    images = sorted(read_split(photos / "splits.tsv", "test"))
    random = np.random.default_rng(seed)
    tested = {images[i] for i in random.permutation(len(images))[: max(1, round(TEST_SHARE * len(images)))]}
    train, test = {}, {}
    for code in codes:
        rows = [row for row in read_captions(photos / "captions" / f"{code}.tsv") if row.image in set(images)]
        train[code] = swapped([row for row in rows if row.image not in tested], code, random)
        test[code] = swapped([row for row in rows if row.image in tested], code, random)
        if not train[code] or not test[code]:
            raise DataError(
                f"{photos}: too few captions of split test in {code} have {MIN_WORDS} words or more"
            )
    return SplitCaptions(train, test)


def swapped(captions: Sequence[Caption], code: str, random: np.random.Generator) -> list[SplitSentence]:
    """Cut captions in two; return as many with their own second half as with another's, in random order.

    Words are lower-cased and without punctuation, sentences are cut in the middle between words, and second
    halves are swapped among sentences of the same number of words about different pictures, so that neither
    spelling nor length nor the second half alone gives the label away.
    """
    by_length: dict[int, list[SplitSentence]] = {}
    for caption in captions:
        tokens = words(caption.text, code)
        if len(tokens) >= MIN_WORDS:
            cut = len(tokens) // 2
            sentence = SplitSentence(tuple(tokens[:cut]), tuple(tokens[cut:]), True, caption.image)
            by_length.setdefault(len(tokens), []).append(sentence)
    whole, mixed = [], []
    for sentences in by_length.values():
        order = [sentences[i] for i in random.permutation(len(sentences))]
        mixed += _exchanged(order[: len(order) // 2])
        whole += order[len(order) // 2 :]
    size = min(len(whole), len(mixed))
    chosen = [rows[i] for rows in (whole, mixed) for i in random.permutation(len(rows))[:size]]
    return [chosen[i] for i in random.permutation(len(chosen))]


def _exchanged(sentences: Sequence[SplitSentence]) -> list[SplitSentence]:
    """Each with the second half of the next, where picture and second half differ."""
    return [
        SplitSentence(sentence.first, following.second, False, sentence.image)
        for sentence, following in zip(sentences, [*sentences[1:], *sentences[:1]], strict=True)
        if sentence.image != following.image and sentence.second != following.second
    ]


def tokenize_halves(
    tokenizer: Tokenizer, sentences: Sequence[SplitSentence], code: str, max_tokens: int
) -> list[tuple[list[int], int]]:
    """Tokenise each sentence to at most `max_tokens` ids; also how many of them are the first half's."""
    plain = Tokenizer.from_str(tokenizer.to_str())
    plain.no_padding()
    space = "" if language(code).script in TOKENISERS else " "
    start = [] if (number := _sequence_id(plain)) is None else [number]
    rows = []
    for sentence in sentences:
        first, second = (
            plain.encode(space.join(half), add_special_tokens=False).ids
            for half in (sentence.first, sentence.second)
        )
        rows.append(((start + first + second)[:max_tokens], min(len(start) + len(first), max_tokens)))
    return rows


def _sequence_id(tokenizer: Tokenizer) -> int | None:
    """The id of <seq>, where the tokenizer puts it first."""
    number: int | None = tokenizer.token_to_id(SEQUENCE)
    return number if tokenizer.post_processor is not None else None
