"""A bundle's word lists (index.encoder.word_list), one per language, and what their words mean.

Meanings are those in the language that others are mined with: what a run's last round of mining found.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np
from scipy.sparse import csr_array

from index.encoder.bundle import open_bundle, words_file
from index.encoder.word_list import WordList, WordMeanings, read_word_list, write_word_list
from index.text.normalisation import words
from training.data.captions import CaptionedPictures
from training.data.pairs import read_pairs
from training.data.pictograms import is_drawing
from training.data.training_data import with_captions
from training.encoders.stored import RESULT
from training.loop.prepare import training_captions, training_texts
from training.loop.run import Run, open_run
from training.mining.rounds import last_round
from training.mining.words import frequent

LEAST_COUNT = 3  # occurrences in training that a listed word has
MOST_WORDS = 6000  # of a language's list, the most frequent
QUOTED = 30.0  # times as large a share of another language's words: the word is quoted from there
MOST_TRANSLATIONS = 3  # of a word
# Of words with one translation, such as the forms of a verb, the others are less of it than the most frequent
# one: their weight is this power of their share of its occurrences. Chosen by the dictionaries' odd entries.
EVENNESS = 0.5


def write_word_lists(
    data: CaptionedPictures,
    texts: Mapping[str, Sequence[str]],
    languages: Sequence[str],
    bundle: Path,
    translations: Mapping[str, WordMeanings],
) -> None:
    """Write the list of each of `languages` into a bundle's folder.

    It has the words that occur at least LEAST_COUNT times in the captions and the sentences without pictures,
    MOST_WORDS at most, with their translations, if there are any.

    A pictogram's name counts once, however many artists drew the concept. A word is left out where it is
    QUOTED from another of the languages: *boy* stands in German titles, and is no German for *boy*.
    """
    counts: dict[str, Counter[str]] = {language: Counter() for language in languages}
    captions = {
        (PurePosixPath(name).name if is_drawing(name) else number, caption.language, caption.text)
        for number, caption in enumerate(data.captions)
        for name in (data.pictures[caption.picture],)
    }
    sentences = Counter((language, text) for _, language, text in captions)
    sentences.update((language, line) for language, lines in texts.items() for line in lines)
    for (language, text), times in sentences.items():
        if language in counts:
            for word in words(text, language):
                counts[language][word] += times
    shares: dict[str, float] = {}  # of a word, in the language that says it most
    for frequencies in counts.values():
        total = frequencies.total()
        shares |= {word: max(count / total, shares.get(word, 0.0)) for word, count in frequencies.items()}
    (bundle / "words").mkdir()
    for language, frequencies in counts.items():
        least = frequencies.total() / QUOTED
        listed = sorted(
            (-count, word)
            for word, count in frequencies.items()
            if count >= max(LEAST_COUNT, least * shares[word])
        )
        kept = {word: -count for count, word in listed[:MOST_WORDS]}
        write_word_list(WordList(kept, translations.get(language, {})), bundle / words_file(language))


def word_translations(run: Run, data: Path, languages: Sequence[str]) -> dict[str, WordMeanings]:
    """The translations of the words of `languages`, by a run and by what it goes on from.

    A language has those of the latest run that has mined its words, or of the bundle that all began with.
    `data` is the folder that the runs were trained on.
    """
    found: dict[str, WordMeanings] = {}
    while True:
        found = _of_run(run, data, [code for code in languages if code not in found]) | found
        start = run.recipe.text.located(data).start
        if not start or not (Path(start) / RESULT).is_file():
            break
        run = open_run(Path(start))
    if start:
        bundle = open_bundle(Path(start))
        listed = {code: bundle.words(code) for code in languages if code not in found}
        found |= {code: read_word_list(file).translations for code, file in listed.items() if file}
    return found


def _of_run(run: Run, data: Path, languages: Sequence[str]) -> dict[str, WordMeanings]:
    """What the last round of one run found, if it has mined words."""
    settings = run.recipe.mining
    begun = last_round(run.recipe.optimiser.epochs - 1, settings) if settings else None
    if settings is None or begun is None or not settings.counts_words(begun):
        return {}
    pairs, weights = read_pairs(run.pseudopairs_file(begun))
    pivot = settings.pivots[0]
    mined = [code for code in languages if (code, pivot) in weights]
    if not mined:
        return {}
    lines: Mapping[str, Sequence[str]] = training_texts(run, data)
    if settings.captions:
        captions = training_captions(run, data)
        lines = with_captions(lines, captions, captions.texts)
    meanings = list(_frequent(pivot, lines[pivot]))
    found = {}
    for code in mined:
        counts = _frequent(code, lines[code])
        # Words come after the sentences.
        rows = pairs[code, pivot] - [len(lines[code]), len(lines[pivot])]
        of_words = rows[:, 0] >= 0
        table = csr_array(
            (weights[code, pivot][of_words], rows[of_words].T), shape=(len(counts), len(meanings))
        )
        found[code] = _weighted(table, counts, meanings)
    return found


def _frequent(language: str, lines: Sequence[str]) -> dict[str, int]:
    return frequent(words(line, language) for line in lines)


def _weighted(table: csr_array, counts: Mapping[str, int], meanings: Sequence[str]) -> WordMeanings:
    """Translations by how probable each is (words, meanings), weighed by how frequent their words are."""
    table.sum_duplicates()
    owners = np.repeat(np.arange(len(counts)), np.diff(table.indptr))
    expected = table.data * np.fromiter(counts.values(), np.float64)[owners]
    most, share = np.zeros(len(meanings)), np.zeros(len(counts))
    np.maximum.at(most, table.indices, expected)
    np.maximum.at(share, owners, expected / most[table.indices])
    by_likelihood = np.lexsort((-table.data, owners))
    kept = by_likelihood[np.arange(len(owners)) - table.indptr[owners] < MOST_TRANSLATIONS]
    owners, likely, numbers = owners[kept], table.data[kept], table.indices[kept]
    weights = share[owners] ** EVENNESS * likely / np.bincount(owners, likely, len(counts))[owners]
    found: dict[str, dict[str, float]] = {}
    spelled = list(counts)
    for word, number, weight in zip(owners.tolist(), numbers.tolist(), weights.tolist(), strict=True):
        found.setdefault(spelled[word], {})[meanings[number]] = weight
    return found
