"""Ground truth of word translation: word pairs found in text that is aligned across languages.

Globetrotter's procedure (Surís et al. 2022, B.2): two words are a pair if each is among the other's five
highest by tf-idf. The pairs are noisy (woman, dress), so a score of 100 per cent is out of reach.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.suites.sets import in_common, languages_in, read_aligned, read_captions
from index.errors import DataError
from index.progress import Progress
from index.words.vocabulary import by_frequency

MUTUAL_TOP = 5  # B.2: mutual top 5
MIN_LINES = 5  # a word in fewer lines has a document too small to tell its translation from its neighbours
MAX_LINES = 50_000

Pairs = list[tuple[str, str]]
Sentences = Sequence[Sequence[str]]
Units = Callable[[Sequence[str], str], Sentences]
Aligned = Mapping[str, Mapping[str, Sequence[str]]]  # language -> a line's number or a picture -> sentences


@dataclass(frozen=True)
class Truth:
    """Word `pairs` by ordered language pair, and word `counts` by language."""

    pairs: Mapping[tuple[str, str], Pairs]
    counts: Mapping[str, Counter[str]]


def read_text(data: Path, known: Sequence[str], chosen: Sequence[str]) -> Aligned:
    """Read the aligned text of `data`: its own LANG.txt, or else the captions of photos, by picture.

    Only languages in `known` or `chosen` are read. The captions of a picture are aligned as a whole: one
    language may have a translation, and the other five sentences that include what was translated.
    Raises UnknownLanguageError for a chosen language without text, DataError if fewer than two are left.
    """
    captions = data / "photos" / "captions"
    lines = languages_in(data, ".txt")
    codes = in_common(data, lines or languages_in(captions, ".tsv"), known, chosen, " text")
    if lines:
        texts = read_aligned(data, codes, most=MAX_LINES)
        return {code: {str(row): [line] for row, line in enumerate(texts[code])} for code in codes}
    by_picture: dict[str, dict[str, list[str]]] = {code: {} for code in codes}
    for code in codes:
        for caption in read_captions(captions / f"{code}.tsv"):
            by_picture[code].setdefault(caption.image, []).append(caption.text)
    return by_picture


def find_truth(text: Aligned, units: Units, label: str) -> Truth:
    """The pairs of all languages; `units` gives the words or tokens of sentences in a language.

    Raises DataError if there are no pairs at all.
    """
    divided = units_of(text, units)
    pairs: dict[tuple[str, str], Pairs] = {}
    both = list(combinations(divided, 2))
    with Progress(len(both), unit="pairs of languages", label=label) as bar:
        for first, second in both:
            places = [place for place in divided[first] if place in divided[second]]
            lines = ([divided[code][place] for place in places] for code in (first, second))
            pairs[first, second] = word_pairs(*lines)
            pairs[second, first] = [(y, x) for x, y in pairs[first, second]]
            bar.advance()
    if not any(pairs.values()):
        raise DataError("no word occurs often enough to tell what it means: give more lines that correspond")
    counts = {code: Counter(chain.from_iterable(places.values())) for code, places in divided.items()}
    return Truth(pairs, counts)


def units_of(text: Aligned, units: Units) -> dict[str, dict[str, list[str]]]:
    """language -> a line's number or a picture -> the words or tokens of its sentences."""
    divided = {}
    for code, places in text.items():
        parts = iter(units(list(chain.from_iterable(places.values())), code))
        divided[code] = {
            place: list(chain.from_iterable(islice(parts, len(sentences))))
            for place, sentences in places.items()
        }
    return divided


def word_pairs(
    first: Sentences, second: Sentences, *, top: int = MUTUAL_TOP, least: int = MIN_LINES
) -> Pairs:
    """The pairs of words that translate each other in aligned sentences (word lists, line i with line i).

    Words in fewer than `least` lines are left out. Most frequent words of `first` come first.
    """
    lexicons = [_lexicon(sentences, least) for sentences in (first, second)]
    first_numbers, second_numbers = (
        [np.array([lexicon[word] for word in line if word in lexicon], np.int64) for line in sentences]
        for sentences, lexicon in zip((first, second), lexicons, strict=True)
    )
    forward = _best(first_numbers, second_numbers, top)
    backward = {(x, y) for y, x in _best(second_numbers, first_numbers, top)}
    names = [list(lexicon) for lexicon in lexicons]
    return [(names[0][x], names[1][y]) for x, y in sorted(forward & backward)]


def _lexicon(sentences: Sentences, least: int) -> dict[str, int]:
    """Words in at least `least` lines, numbered from the most frequent."""
    counts = Counter(chain.from_iterable(set(line) for line in sentences))
    return {word: row for row, word in enumerate(by_frequency(counts)) if counts[word] >= least}


def _best(
    first: Sequence[NDArray[np.int64]], second: Sequence[NDArray[np.int64]], top: int
) -> set[tuple[int, int]]:
    """(word of one, word of other) for the `top` of other by tf-idf of each word of one (B.2, eq. 6, 7).

    The document of a word i is all words of other, with repetition, in the lines that i is in;
    tf = f_ij / sum_j f_ij, idf = log(documents / documents with j). What all documents have (0) is no answer.
    """
    width = 1 + max((int(line.max()) for line in second if len(line)), default=0)
    keys = [np.add.outer(np.unique(a) * width, b).ravel() for a, b in zip(first, second, strict=True)]
    cells, counts = np.unique(np.concatenate([np.zeros(0, np.int64), *keys]), return_counts=True)
    i, j = np.divmod(cells, width)
    idf = np.log(len(np.unique(i)) / np.bincount(j)[j])
    # Rounded, so that a tie (2 log 2 = log 4) is broken by frequency and not by the last bit.
    value = np.round(counts / np.bincount(i, counts)[i] * idf, 12)
    order = np.lexsort((j, -value, i))
    i, j, value = i[order], j[order], value[order]
    place = np.arange(len(i)) - np.searchsorted(i, i)
    kept = (place < top) & (value > 0)
    return set(zip(i[kept].tolist(), j[kept].tolist(), strict=True))
