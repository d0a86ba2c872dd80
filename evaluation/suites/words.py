"""Word translation: whether the encoder finds the translations that a dictionary gives (Globetrotter 5.3).

Globetrotter finds its word pairs by tf-idf in aligned text instead, which pairs "woman" with "dress".
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from evaluation.measures.scores import PairScore, Table, table_of_pairs
from evaluation.suites.sets import languages_in, read_lines, read_table
from index.answers.word_index import fold
from index.arrays import Vectors
from index.encoder.text_encoder import TextEncoder
from index.errors import UnknownLanguageError, UsageError
from index.text.normalisation import words
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, csls_scores
from index.words.vocabulary import by_frequency, training_words

KS = (1, 5, 10)
QUERIES_AT_ONCE = 256
NOTE = (
    "P@k: per cent of source words with one of their translations among the k nearest of all words of the "
    "other language; of the words that can be answered. "
)


@dataclass(frozen=True)
class Dictionary:
    """Entries (source word, target word) of one direction, each once."""

    source: str
    target: str
    entries: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class WordVectors:
    """Words, most frequent first, and their unit vectors (n, d)."""

    words: Sequence[str]
    vectors: Vectors


def read_dictionary(option: str) -> Dictionary:
    """Read SOURCE:TARGET=FILE, a TSV file of source word and target word, folded as vocabularies are.

    UsageError if that is not so.
    """
    codes, _, name = option.partition("=")
    source, _, target = codes.partition(":")
    if not source or not target or not name or source == target:
        raise UsageError(f"--dictionary {option}: give two languages and a file: en:de=FILE.tsv")
    rows = read_table(Path(name), ("source word", "target word"))
    return Dictionary(source, target, list(dict.fromkeys((fold(x), fold(y)) for x, y in rows)))


def dictionary_translation(
    encoder: TextEncoder,
    data: Path | None,
    known: Sequence[str],
    dictionaries: Sequence[Dictionary],
) -> list[Table]:
    """Suite `words` with dictionaries.

    The vocabulary is that of training, and of the text in `data` where it is given, in the dictionaries'
    languages. Raises UnknownLanguageError where one of them has no words at all.
    """
    counts = corpus_counts(encoder, data, known)
    asked = dict.fromkeys(code for one in dictionaries for code in (one.source, one.target))
    for code in asked:
        if not counts.get(code):
            raise UnknownLanguageError(
                f"no words in {code!r}: {encoder.name} has none, give --data with text"
            )
    listed = {code: list(by_frequency(counts[code])) for code in asked}
    vocabularies = {code: WordVectors(own, encoder.word_vectors(own, code)) for code, own in listed.items()}
    pairs = [score_dictionary(dictionary, vocabularies) for dictionary in dictionaries]
    sizes = [f"{one.source}-{one.target} {len(one.entries)} entries" for one in dictionaries]
    sizes += [f"{code} {len(vocabulary.words)} words" for code, vocabulary in vocabularies.items()]
    return [table_of_pairs("dictionary", f"{NOTE}{', '.join(sizes)}.", pairs)]


def corpus_counts(encoder: TextEncoder, data: Path | None, known: Sequence[str]) -> dict[str, Counter[str]]:
    """Count the words of each language in training and in `data`/LANG.txt, if given."""
    counts = {code: training_words(encoder.bundle, code) for code in known}
    if data is not None:
        for code in languages_in(data, ".txt"):
            read = Counter(word for line in read_lines(data / f"{code}.txt") for word in words(line, code))
            counts[code] = counts.get(code, Counter()) + read
    return counts


def score_dictionary(dictionary: Dictionary, vocabularies: Mapping[str, WordVectors]) -> PairScore:
    """P@k by cosine and CSLS; n is the number of source words answered.

    coverage: per cent of the entries with both words in the vocabulary.
    """
    source, target = vocabularies[dictionary.source], vocabularies[dictionary.target]
    asked, given = ({word: row for row, word in enumerate(side.words)} for side in (source, target))
    covered = [(x, y) for x, y in dictionary.entries if x in asked and y in given]
    measures = {"coverage": 100 * len(covered) / max(1, len(dictionary.entries))}
    if not covered:
        return PairScore(dictionary.source, dictionary.target, 0, measures)
    answered, group = np.unique([x for x, _ in covered], return_inverse=True)
    rows = np.array([(asked[x], given[y]) for x, y in covered]).T
    for key, ranks in ranks_of(source.vectors, target.vectors, *rows).items():
        best = np.full(len(answered), np.iinfo(np.int64).max)
        np.minimum.at(best, group, ranks)
        measures |= {f"{key}_p{k}": 100 * float(np.mean(best < k)) for k in KS}
    return PairScore(dictionary.source, dictionary.target, len(answered), measures)


def ranks_of(
    source: Vectors, target: Vectors, queries: NDArray[np.int64], answers: NDArray[np.int64]
) -> dict[str, NDArray[np.int64]]:
    """Rank the answers by cosine and by CSLS: (n,) how many rows of `target` are nearer than `answers[i]`.

    `queries[i]` is a row of `source`. Distinct queries are compared in blocks.
    """
    nearest, _ = faiss.knn(
        target, source, min(CSLS_NEIGHBOURS, len(source)), metric=faiss.METRIC_INNER_PRODUCT
    )
    hubness = nearest.mean(axis=1)
    ranks = {key: np.zeros(len(queries), np.int64) for key in ("cosine", "csls")}
    distinct, place = np.unique(queries, return_inverse=True)
    for start in range(0, len(distinct), QUERIES_AT_ONCE):
        cosines = source[distinct[start : start + QUERIES_AT_ONCE]] @ target.T
        # The query's own mean, the remaining term of CSLS, is the same for all candidates.
        scores = {"cosine": cosines, "csls": csls_scores(cosines, np.zeros(1), hubness)}
        here = np.flatnonzero((place >= start) & (place < start + QUERIES_AT_ONCE))
        for key, values in scores.items():
            rows = values[place[here] - start]
            ranks[key][here] = (rows > rows[np.arange(len(here)), answers[here]][:, None]).sum(axis=1)
    return ranks
