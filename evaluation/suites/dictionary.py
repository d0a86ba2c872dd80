"""Word translation against given dictionaries, instead of word pairs found in aligned text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation.measures.scores import PairScore, Table, table_of_pairs
from evaluation.suites.sets import read_table
from evaluation.suites.truth import Pairs
from evaluation.suites.words import Vocabularies, corpus_counts, make_vocabularies, ranks_of
from index.encoder.text_encoder import TextEncoder
from index.errors import UnknownLanguageError, UsageError
from index.search.word_index import fold

KS = (1, 5, 10)
NOTE = (
    "P@k: per cent of source words with one of their translations among the k nearest words of the target "
    "language, aligned by Procrustes where it does not say before; of the words that can be answered. "
    "Coverage: per cent of the dictionary's entries with both words in the vocabulary. "
    "Entries and vocabulary: {sizes}."
)


@dataclass(frozen=True)
class Dictionary:
    """Entries (source word, target word) of one direction, folded as vocabularies are, each once."""

    source: str
    target: str
    entries: Pairs


def read_dictionary(option: str) -> Dictionary:
    """Read SOURCE:TARGET=FILE, a TSV file of source word and target word; UsageError if that is not so."""
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
    chosen: Sequence[str],
    dictionaries: Sequence[Dictionary],
) -> list[Table]:
    """Suite `words` with dictionaries: P@1, P@5 and P@10, and coverage.

    The vocabulary is that of training, and of the text in `data` where it is given, in the dictionaries'
    languages, which are aligned. Raises UnknownLanguageError where one of them has no words at all.
    """
    counts = corpus_counts(encoder, data, known, chosen)
    asked = dict.fromkeys(
        code for dictionary in dictionaries for code in (dictionary.source, dictionary.target)
    )
    for code in asked:
        if not counts.get(code):
            raise UnknownLanguageError(
                f"no words of {code!r}: {encoder.name} has none, give --data with text"
            )
    vocabularies = make_vocabularies({code: counts[code] for code in asked}, encoder.word_vectors)
    pairs = [score_dictionary(dictionary, vocabularies) for dictionary in dictionaries]
    sizes = [
        f"{dictionary.source}-{dictionary.target} {len(dictionary.entries)} entries"
        for dictionary in dictionaries
    ]
    sizes += [f"{code} {len(vocabulary.words)} words" for code, vocabulary in vocabularies.items()]
    return [table_of_pairs("dictionary", NOTE.format(sizes=", ".join(sizes)), pairs, chosen)]


def score_dictionary(dictionary: Dictionary, vocabularies: Vocabularies) -> PairScore:
    """P@k by cosine and CSLS, before and after alignment; n is the number of source words answered."""
    source_words, target_words = vocabularies[dictionary.source], vocabularies[dictionary.target]
    source_set, target_set = set(source_words.words), set(target_words.words)
    covered = [(x, y) for x, y in dictionary.entries if x in source_set and y in target_set]
    measures = {"coverage": 100 * len(covered) / len(dictionary.entries)}
    if not covered:
        return PairScore(dictionary.source, dictionary.target, 0, measures)
    answered, group = np.unique([x for x, _ in covered], return_inverse=True)
    rows = source_words.rows([x for x, _ in covered]), target_words.rows([y for _, y in covered])
    spaces = {
        "before_": (source_words.vectors, target_words.vectors),
        "": (source_words.aligned(), target_words.aligned()),
    }
    for prefix, space in spaces.items():
        for key, ranks in ranks_of(*space, *rows).items():
            best = np.full(len(answered), np.iinfo(np.int64).max)
            np.minimum.at(best, group, ranks)
            measures |= {f"{prefix}{key}_p{k}": 100 * float(np.mean(best < k)) for k in KS}
    return PairScore(dictionary.source, dictionary.target, len(answered), measures)
