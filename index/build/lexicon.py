"""Stage of a build: the aligned words of each language, and the token statistics of the language detector."""

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.build.job import Job, making, save_array
from index.build.process_pool import ProcessPool, result_of
from index.build.reading import texts_of, vectors_of
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.languages import has_spaces
from index.progress import Progress
from index.storage.tables import write_table
from index.text.identification import Detector, table_row
from index.text.pre_tokens import StringArray
from index.words.contexts import Contexts, occurrences
from index.words.phrases import count_pairs, find_phrases
from index.words.procrustes import ANCHOR_PULLS, Alignment, align
from index.words.vocabulary import by_frequency, read_counts, token_counts, write_counts

MAX_ALIGNMENT_ROUNDS = 20  # of word alignment, at most
PHRASE_SENTENCES = 200_000  # read for phrases
SENTENCES_COUNTED = 1 << 16  # at a time
SENTENCES_PAIRED = 1 << 15  # with their neighbours
CONTEXT_SENTENCES = 100_000  # read of each language for the contexts of its words
CONTEXTS_ADDED = 1 << 12  # sentences at a time


@dataclass(frozen=True)
class WordOptions:
    """Which words an index has: up to `most`, the most frequent, that occur at least `least` times each."""

    least: int = 1
    most: int = 200_000
    phrases: bool = True


EVERY_WORD = WordOptions()


def count_language(
    job: Job, code: str, pool: ProcessPool, word_options: WordOptions
) -> tuple[Counter[str], dict[str, int]]:
    """Count the words and phrases in the sentences of a language, or read the counts of a killed build."""
    words, phrases = job.part(f"{code}.counts"), job.part(f"{code}.phrases")
    if not (words.exists() and phrases.exists()):
        for path, counts in zip((phrases, words), _count(job, code, pool, word_options), strict=True):
            with making(path) as draft:
                write_counts(draft, counts)
    return Counter(read_counts(words)), read_counts(phrases)


def _count(
    job: Job, code: str, pool: ProcessPool, word_options: WordOptions
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Count the phrases in the first PHRASE_SENTENCES sentences, and the words in all sentences."""
    if not (word_options.phrases and has_spaces(code)):
        return {}, word_counts(texts_of(job, code, SENTENCES_COUNTED), code, pool)
    first = texts_of(job, code, SENTENCES_PAIRED, end=PHRASE_SENTENCES)
    pairs, words = count_pairs(first, code)
    remaining = texts_of(job, code, SENTENCES_COUNTED, start=PHRASE_SENTENCES)
    return find_phrases(pairs, words), words + word_counts(remaining, code, pool)


def word_counts(batches: Iterator[StringArray], code: str, pool: ProcessPool) -> Counter[str]:
    """Count the words in batches of texts of a language."""
    counts: Counter[str] = Counter()
    pending: deque[Future[dict[str, int]]] = deque()
    for texts in batches:
        pending.append(pool.count(texts.to_pylist(), code))
        if len(pending) > pool.ahead:
            counts.update(result_of(pending.popleft()))
    for future in pending:
        counts.update(result_of(future))
    return counts


def choose_words(
    counts: Mapping[str, Counter[str]], phrases: Mapping[str, Mapping[str, int]], word_options: WordOptions
) -> dict[str, Counter[str]]:
    """Choose the words and phrases that the index will have in each language, with their counts."""
    chosen = {}
    for code, words in counts.items():
        all_counts = words + Counter(phrases[code])
        kept = [word for word in by_frequency(all_counts) if all_counts[word] >= word_options.least]
        chosen[code] = Counter({word: all_counts[word] for word in kept[: word_options.most]})
    return chosen


def write_words(
    job: Job, counts: Mapping[str, Counter[str]], sentences: Mapping[str, int]
) -> tuple[Alignment, dict[str, Vectors]]:
    """Align the words of each language, and write LANG.words.arrow and LANG.words.rotation.npy.

    `counts`: the words with their counts; `sentences`: the number of sentences of each language. Returns the
    alignment and the aligned unit vectors (n, d) of each language.
    """
    vocabulary = {code: by_frequency(entries) for code, entries in counts.items()}
    vectors = {
        code: vectors_in_context(job, code, entries, sentences[code]) for code, entries in vocabulary.items()
    }
    with Progress(MAX_ALIGNMENT_ROUNDS, unit="rounds", label="align words") as bar:
        # A single language is not rotated.
        pulls = ANCHOR_PULLS if len(vectors) > 1 else (np.inf,)
        alignment = align(
            vectors, iterations=MAX_ALIGNMENT_ROUNDS, pulls=pulls, threads=job.threads, progress=bar.advance
        )
    for code, rotation in alignment.rotations.items():
        vectors[code] = vectors[code] @ rotation
        save_array(job.path(f"{code}.words.rotation.npy"), rotation)
        with making(job.path(f"{code}.words.arrow")) as draft:
            numbers = np.array([counts[code][word] for word in vocabulary[code]], np.int64)
            write_table(draft, {"word": vocabulary[code], "count": numbers})
    return alignment, vectors


def vectors_in_context(job: Job, code: str, vocabulary: Sequence[str], sentences: int) -> Vectors:
    """(n, d) unit vectors of words and phrases, from their tokens and the sentences that contain them."""
    vectors = vectors_of(job, code, min(sentences, CONTEXT_SENTENCES))
    contexts, start = Contexts(len(vocabulary), vectors.shape[1]), 0
    batches = texts_of(job, code, CONTEXTS_ADDED, end=len(vectors))
    for count, words, texts in occurrences(batches, vocabulary, code):
        contexts.add(words, texts, np.asarray(vectors[start : start + count]))
        start += count
    return contexts.mixed(job.encoder.word_vectors(vocabulary, code))


class LanguageTokens:
    """The token statistics of each language, from which a Detector is made.

    `detector` is based on `words`, the encoder's training words of each language, for an index with sentences
    in the languages `held`. `known`: finished rows of the detector's table, for languages whose words need
    not be counted again.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        words: Mapping[str, Counter[str]],
        held: Collection[str] = (),
        known: Mapping[str, NDArray[np.float32]] | None = None,
    ) -> None:
        self._encoder, self._languages = encoder, tuple(words)
        self._counts = {}
        rows = dict(known or {})
        for code, trained in words.items():
            if code in rows:
                continue
            frequencies = token_counts(encoder, trained)
            if frequencies.any():
                rows[code] = table_row(frequencies)
            # Kept for the languages of the index only: they take 8 bytes for each token of the vocabulary.
            if code in held:
                self._counts[code] = frequencies
        self.detector = self._detector(rows).of_index(held)

    def with_corpora(self, words: Mapping[str, Counter[str]]) -> Detector:
        """A detector based on the words of the corpora as well."""
        rows = dict(zip(self.detector.languages, self.detector.table, strict=True))
        for code, corpus_words in words.items():
            counts = self._counts[code] + token_counts(self._encoder, corpus_words)
            if counts.any():
                rows[code] = table_row(counts)
        return self._detector(rows)

    def _detector(self, rows: Mapping[str, NDArray[np.float32]]) -> Detector:
        detectable = [code for code in self._languages if code in rows]
        empty = np.zeros((0, self._encoder.vocabulary), np.float32)
        return Detector(detectable, np.stack([rows[code] for code in detectable]) if detectable else empty)
