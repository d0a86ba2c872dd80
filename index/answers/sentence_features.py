"""What evidence needs of a sentence: its length, its words and its numbers.

A build computes them for every sentence (build/lexicon.py), so that no sentence of the index is tokenised to
answer a question.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log1p
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from index.arrays import Numbers
from index.storage.tables import integers, read_array, strings
from index.text.normalisation import SENTENCE_ENDS, words, words_of
from index.text.number_words import may_have_number, numbers_in
from index.text.placeables import without_tags
from index.text.pre_tokens import Numbering, StringArray, Tokens, slices

WORDS_READ = 64  # of a sentence: an encoder reads no more tokens
DIGIT, RE2_DIGIT = re.compile(r"\d"), r"\pN"
LARGEST_CODE = 1 << 62  # of a number: its value, if that is lower


@dataclass(frozen=True)
class Features:
    """Of n sentences: their lengths (n,), the rows of their words in the word index, and their numbers.

    The words of sentence i are `words[offsets[i]:offsets[i + 1]]`, in order, without those that the word
    index does not have; at most WORDS_READ. `numbers` (2, m): a sentence, ascending, and the code of a number
    in it.
    """

    lengths: NDArray[np.float32]
    offsets: Numbers
    words: NDArray[np.int32]
    numbers: Numbers

    @classmethod
    def of(
        cls, batches: Iterable[Sequence[str] | StringArray], vocabulary: Sequence[str], language: str
    ) -> "Features":
        """The features of texts in a language whose word index has this vocabulary."""
        parts = list(_parts(batches, vocabulary, language))
        lengths = [np.zeros(0, np.float32), *(part[0] for part in parts)]
        sizes = [np.zeros(1, np.int64), *(part[1].lengths for part in parts)]
        words = [np.zeros(0, np.int64), *(part[1].ids for part in parts)]
        numbers = [np.zeros((2, 0), np.int64), *(part[2] for part in parts)]
        return cls(
            np.concatenate(lengths),
            np.cumsum(np.concatenate(sizes)),
            np.concatenate(words).astype(np.int32),
            np.concatenate(numbers, axis=1),
        )

    @classmethod
    def open(cls, folder: Path, language: str, count: int) -> "Features":
        """Open LANG.features.*.npy of a verified version. Raises DamagedError."""
        kinds: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {
            "lengths": ((count,), np.float32),
            "offsets": ((count + 1,), np.int64),
            "words": ((-1,), np.int32),
            "numbers": ((2, -1), np.int64),
        }
        return cls(
            *(
                read_array(folder / _file(language, name), shape, kind)
                for name, (shape, kind) in kinds.items()
            )
        )

    def arrays(self, language: str) -> dict[str, NDArray[Any]]:
        """The arrays by the names of their files."""
        return {_file(language, name): values for name, values in vars(self).items()}

    def __len__(self) -> int:
        return len(self.lengths)

    def words_of(self, rows: Numbers) -> Tokens:
        """The rows in the word index of the words of some sentences."""
        begins = self.offsets[rows]
        lengths = self.offsets[rows + 1] - begins
        return Tokens(self.words[slices(begins, lengths)].astype(np.int64), lengths)

    def numbers_of(self, row: int) -> Counter[int]:
        """The codes of the numbers of a sentence."""
        begin, end = np.searchsorted(self.numbers[0], (row, row + 1))
        return Counter(self.numbers[1, begin:end].tolist())

    def take(self, rows: Numbers) -> "Features":
        """The features of some sentences, each at most once, in that order."""
        words = self.words_of(rows)
        places = np.full(len(self), -1)
        places[rows] = np.arange(len(rows))
        numbers = np.stack([places[self.numbers[0]], self.numbers[1]])
        numbers = numbers[:, numbers[0] >= 0]
        return Features(
            self.lengths[rows],
            np.cumsum(np.concatenate([np.zeros(1, np.int64), words.lengths])),
            words.ids.astype(np.int32),
            numbers[:, np.argsort(numbers[0], kind="stable")],
        )

    def followed(self, others: "Features") -> "Features":
        """These sentences, followed by others."""
        return Features(
            np.concatenate([self.lengths, others.lengths]),
            np.concatenate([self.offsets, self.offsets[-1] + others.offsets[1:]]),
            np.concatenate([self.words, others.words]),
            np.concatenate([self.numbers, others.numbers + np.array([[len(self)], [0]])], axis=1),
        )


def _file(language: str, name: str) -> str:
    return f"{language}.features.{name}.npy"


def length(text: str) -> float:
    """log(1 + characters) of a text without its final punctuation."""
    return log1p(len(text.rstrip(SENTENCE_ENDS)))


def number_codes(text: str, text_words: Sequence[str], language: str) -> Counter[int]:
    """The numbers of a text without tags, given with its words, as codes that are equal for equal numbers."""
    if not DIGIT.search(text) and not may_have_number(text_words, language):
        return Counter()  # nearly always
    found = numbers_in(text, text_words, language)
    return Counter({_code(number): count for number, count in found.items()})


def _code(number: int | str) -> int:
    if isinstance(number, int) and number < LARGEST_CODE:
        return number
    return -1 - crc32(str(number).encode())


def _parts(
    batches: Iterable[Sequence[str] | StringArray], vocabulary: Sequence[str], language: str
) -> Iterator[tuple[NDArray[np.float32], Tokens, Numbers]]:
    """Yield the lengths, word rows and numbers of each batch of texts."""
    numbering, pre_tokens, divided, first = Numbering(), Numbering(), Tokens.of([]), 0
    for entry in vocabulary:
        _ = numbering[entry]
    counting = np.zeros(0, bool)  # by word: whether a number may start with it
    for batch in batches:
        texts = batch if isinstance(batch, pa.Array) else strings(batch)
        numbers = pre_tokens.of_pre_tokens(texts)
        new = islice(pre_tokens, len(divided), None)  # each is divided into words once
        rows = [[numbering[word] for word in words(pre_token, language)] for pre_token in new]
        divided = divided.followed(Tokens.of(rows))
        found = divided.expand(numbers)
        known = [may_have_number([word], language) for word in islice(numbering, len(counting), None)]
        counting = np.append(counting, np.array(known, bool))
        with_digits = integers(pc.indices_nonzero(pc.match_substring_regex(texts, RE2_DIGIT)))
        numbered = np.union1d(found.texts[counting[found.ids]], with_digits)
        names, pairs = list(numbering), []
        ends = np.cumsum(found.lengths).tolist()
        for row in numbered.tolist():
            text = texts[row].as_py()
            own = [names[word] for word in found.ids[ends[row] - found.lengths[row] : ends[row]].tolist()]
            if (bare := without_tags(text)) != text:
                own = list(words_of(bare, language))
            codes = number_codes(bare, own, language)
            pairs += [(first + row, code) for code in sorted(codes.elements())]
        lengths = np.array([length(text) for text in texts.to_pylist()], np.float32)
        yield lengths, _kept(found, len(vocabulary)), np.array(pairs, np.int64).reshape(-1, 2).T
        first += len(texts)


def _kept(words: Tokens, vocabulary: int) -> Tokens:
    """The first WORDS_READ words of each text, without those that are not in the vocabulary."""
    places = np.arange(len(words.ids)) - np.repeat(np.cumsum(words.lengths) - words.lengths, words.lengths)
    kept = (places < WORDS_READ) & (words.ids < vocabulary)
    return Tokens(words.ids[kept], np.bincount(words.texts[kept], minlength=len(words)))
