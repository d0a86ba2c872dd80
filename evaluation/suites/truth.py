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

from evaluation.suites.sets import TEXT_PREFIX, in_common, languages_in, read_aligned, read_captions
from index.errors import DataError
from index.progress import Progress
from index.words.vocabulary import by_frequency

MUTUAL_TOP = 5  # B.2: mutual top 5
MIN_LINES = 5  # a word in fewer lines has a document too small to tell its translation from its neighbours
MAX_LINES = 50_000
MAX_DENSE_COUNTS = 1 << 25  # so many counts are kept in an array, more are sorted

Pairs = list[tuple[str, str]]
Sentences = Sequence[Sequence[str]]
Units = Callable[[Sequence[str], str], Sentences]
Divided = dict[str, dict[str, list[str]]]


@dataclass(frozen=True)
class Aligned:
    """Aligned text: language -> what it is about (a line's number, a picture) -> its sentences."""

    name: str
    texts: Mapping[str, Mapping[str, Sequence[str]]]


@dataclass(frozen=True)
class Truth:
    """Word `pairs` by ordered language pair, and word `counts` by language.

    `sources`: how many language pairs come from each source.
    """

    pairs: Mapping[tuple[str, str], Pairs]
    counts: Mapping[str, Counter[str]]
    sources: Mapping[str, int]


def read_sources(data: Path, known: Sequence[str], chosen: Sequence[str]) -> list[Aligned]:
    """Read the aligned text of `data`, the best first: its own LANG.txt, or text/ and captions by picture.

    Only languages in `known` or `chosen` are read. The captions of a picture are aligned as a whole: one
    language may have a translation, and the other five sentences that include what was translated.
    Raises UnknownLanguageError for a chosen language without text, DataError if fewer than two are left.
    """
    text, captions = data / "text", data / "photos" / "captions"
    aligned = languages_in(data, ".txt")
    languages = aligned or sorted({*languages_in(text, ".txt", TEXT_PREFIX), *languages_in(captions, ".tsv")})
    codes = in_common(data, languages, known, chosen, " text")
    if aligned:
        return [_lines(data.resolve().name, data, codes)]
    with_text = [code for code in codes if code in languages_in(text, ".txt", TEXT_PREFIX)]
    with_captions = [code for code in codes if code in languages_in(captions, ".tsv")]
    sources = [_lines("text", text, with_text, TEXT_PREFIX)] if len(with_text) > 1 else []
    return sources + ([_captions(captions, with_captions)] if len(with_captions) > 1 else [])


def _lines(name: str, folder: Path, codes: Sequence[str], prefix: str = "") -> Aligned:
    texts = read_aligned(folder, codes, prefix=prefix, most=MAX_LINES)
    return Aligned(name, {code: {str(row): [line] for row, line in enumerate(texts[code])} for code in texts})


def _captions(folder: Path, codes: Sequence[str]) -> Aligned:
    texts: dict[str, dict[str, list[str]]] = {code: {} for code in codes}
    for code in codes:
        for row in read_captions(folder / f"{code}.tsv"):
            texts[code].setdefault(row.image, []).append(row.text)
    return Aligned("captions of one picture", texts)


def find_truth(sources: Sequence[Aligned], units: Units, label: str) -> Truth:
    """The pairs of all languages; `units` gives the words or tokens of sentences in a language.

    A pair of languages uses the first source that has both. Raises DataError if there are no pairs at all.
    """
    divided = [divide(source, units) for source in sources]
    counts = count_units(divided)
    pairs, used = {}, Counter[str]()
    both = list(combinations(counts, 2))
    with Progress(len(both), unit="pairs of languages", label=label) as bar:
        for first, second in both:
            for source, texts in zip(sources, divided, strict=True):
                if first in texts and second in texts:
                    forward = _pairs(texts[first], texts[second])
                    pairs[first, second], pairs[second, first] = forward, [(y, x) for x, y in forward]
                    used[source.name] += 1
                    break
            bar.advance()
    if not any(pairs.values()):
        raise DataError("no word occurs often enough to tell what it means: give more lines that correspond")
    return Truth(pairs, counts, used)


def divide(source: Aligned, units: Units) -> Divided:
    """language -> what it is about -> the words or tokens of all its sentences there."""
    divided = {}
    for code, places in source.texts.items():
        parts = iter(units(list(chain.from_iterable(places.values())), code))
        divided[code] = {
            place: list(chain.from_iterable(islice(parts, len(sentences))))
            for place, sentences in places.items()
        }
    return divided


def count_units(divided: Sequence[Divided]) -> dict[str, Counter[str]]:
    """language -> how often each word or token occurs in all sources."""
    counts: dict[str, Counter[str]] = {}
    for texts in divided:
        for code, places in texts.items():
            counts.setdefault(code, Counter()).update(chain.from_iterable(places.values()))
    return counts


def _pairs(first: Mapping[str, Sequence[str]], second: Mapping[str, Sequence[str]]) -> Pairs:
    places = [place for place in first if place in second]
    return word_pairs([first[place] for place in places], [second[place] for place in places])


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
    height, width = (
        1 + max((int(line.max()) for line in lines if len(line)), default=0) for lines in (first, second)
    )
    keys = [np.add.outer(np.unique(a) * width, b).ravel() for a, b in zip(first, second, strict=True)]
    cells, counts = _tally(np.concatenate([np.zeros(0, np.int64), *keys]), height * width)
    i, j = np.divmod(cells, width)
    idf = np.log(len(np.unique(i)) / np.bincount(j)[j])
    # Rounded, so that a tie (2 log 2 = log 4) is broken by frequency and not by the last bit.
    value = np.round(counts / np.bincount(i, counts)[i] * idf, 12)
    order = np.lexsort((j, -value, i))
    i, j, value = i[order], j[order], value[order]
    place = np.arange(len(i)) - np.searchsorted(i, i)
    kept = (place < top) & (value > 0)
    return set(zip(i[kept].tolist(), j[kept].tolist(), strict=True))


def _tally(keys: NDArray[np.int64], cells: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different keys, all below `cells`, in order, and how often each occurs."""
    if cells > MAX_DENSE_COUNTS:
        return np.unique(keys, return_counts=True)
    counts = np.bincount(keys, minlength=cells)
    cells_used = np.flatnonzero(counts)
    return cells_used, counts[cells_used]
