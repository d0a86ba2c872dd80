"""Stage of a build: the words of each language, aligned, and the tokens by which languages are told apart."""

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
from index.progress import Progress
from index.storage.tables import write_table
from index.text.identification import Detector, table_row
from index.text.pre_tokens import StringArray
from index.words.contexts import Contexts, occurrences
from index.words.phrases import count_pairs, find_phrases, spaced
from index.words.procrustes import PULLS, Alignment, align
from index.words.vocabulary import by_frequency, read_counts, token_counts, write_counts

ROUNDS = 20  # of word alignment, at most
PHRASE_SENTENCES = 200_000  # read for phrases
SENTENCES_COUNTED = 1 << 16  # at a time
SENTENCES_PAIRED = 1 << 15  # with their neighbours
CONTEXT_SENTENCES = 100_000  # read of each language for the contexts of its words
CONTEXTS_ADDED = 1 << 12  # sentences at a time


@dataclass(frozen=True)
class WordOptions:
    """Which words an index has: those that occur `least` times, the `most` frequent, with phrases or not."""

    least: int = 1
    most: int = 200_000
    phrases: bool = True


EVERY_WORD = WordOptions()


def count_language(
    job: Job, code: str, pool: ProcessPool, word_options: WordOptions
) -> tuple[Counter[str], dict[str, int]]:
    """How often each word occurs in the sentences of a language that was read; its phrases."""
    words, phrases = job.part(f"{code}.counts"), job.part(f"{code}.phrases")
    if not (words.exists() and phrases.exists()):
        for path, counts in zip((phrases, words), _count(job, code, pool, word_options), strict=True):
            with making(path) as draft:
                write_counts(draft, counts)
    return Counter(read_counts(words)), read_counts(phrases)


def _count(
    job: Job, code: str, pool: ProcessPool, word_options: WordOptions
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Phrases in the first PHRASE_SENTENCES sentences, with their counts there; words in all."""
    if not (word_options.phrases and spaced(code)):
        return {}, word_counts(texts_of(job, code, SENTENCES_COUNTED), code, pool)
    first = texts_of(job, code, SENTENCES_PAIRED, end=PHRASE_SENTENCES)
    pairs, words = count_pairs(first, code)
    rest = texts_of(job, code, SENTENCES_COUNTED, start=PHRASE_SENTENCES)
    return find_phrases(pairs, words), words + word_counts(rest, code, pool)


def word_counts(batches: Iterator[StringArray], code: str, pool: ProcessPool) -> Counter[str]:
    """How often each word occurs in batches of texts of a language."""
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
    """The words and phrases of each language that the index will have, and their counts."""
    chosen = {}
    for code, words in counts.items():
        all_counts = words + Counter(phrases[code])
        kept = [word for word in by_frequency(all_counts) if all_counts[word] >= word_options.least]
        chosen[code] = Counter({word: all_counts[word] for word in kept[: word_options.most]})
    return chosen


def write_words(
    job: Job, counts: Mapping[str, Counter[str]], sentences: Mapping[str, int]
) -> tuple[Alignment, dict[str, Vectors]]:
    """Write LANG.words.arrow and .rotation.npy of the words and their counts in each language, which has so
    many sentences; the alignment and the aligned unit vectors (n, d) of each language."""
    vocabulary = {code: by_frequency(entries) for code, entries in counts.items()}
    vectors = {
        code: vectors_in_context(job, code, entries, sentences[code]) for code, entries in vocabulary.items()
    }
    with Progress(ROUNDS, unit="rounds", label="align words") as bar:
        # One language alone stays as it is.
        pulls = PULLS if len(vectors) > 1 else (np.inf,)
        alignment = align(vectors, iterations=ROUNDS, pulls=pulls, threads=job.threads, progress=bar.advance)
    for code, rotation in alignment.rotations.items():
        vectors[code] = vectors[code] @ rotation
        save_array(job.path(f"{code}.words.rotation.npy"), rotation)
        with making(job.path(f"{code}.words.arrow")) as draft:
            numbers = [counts[code][word] for word in vocabulary[code]]
            write_table(draft, {"word": vocabulary[code], "count": numbers})
    return alignment, vectors


def vectors_in_context(job: Job, code: str, vocabulary: Sequence[str], sentences: int) -> Vectors:
    """(n, d) unit vectors of the words and phrases of a language whose `sentences` sentences are encoded."""
    vectors = vectors_of(job, code, min(sentences, CONTEXT_SENTENCES))
    contexts, start = Contexts(len(vocabulary), vectors.shape[1]), 0
    batches = texts_of(job, code, CONTEXTS_ADDED, end=len(vectors))
    for count, words, texts in occurrences(batches, vocabulary, code):
        contexts.add(words, texts, np.asarray(vectors[start : start + count]))
        start += count
    return contexts.mixed(job.encoder.word_vectors(vocabulary, code))


class LanguageTokens:
    """The tokens by which languages are told apart: `detector` by the `words` that a bundle has of each,
    for an index that has sentences in the languages `held`; `known`: rows by such words of others, whose
    words are not looked at."""

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
            # Those of a hundred languages would be 8 bytes a token of each.
            if code in held:
                self._counts[code] = frequencies
        self.detector = self._detector(rows).of_index(held)

    def with_corpora(self, words: Mapping[str, Counter[str]]) -> Detector:
        """A detector by the words of the corpora, too."""
        rows = dict(zip(self.detector.languages, self.detector.table, strict=True))
        for code, corpus_words in words.items():
            counts = self._counts[code] + token_counts(self._encoder, corpus_words)
            if counts.any():
                rows[code] = table_row(counts)
        return self._detector(rows)

    def _detector(self, rows: Mapping[str, NDArray[np.float32]]) -> Detector:
        detectable = [code for code in self._languages if code in rows]
        none = np.zeros((0, self._encoder.vocabulary), np.float32)
        return Detector(detectable, np.stack([rows[code] for code in detectable]) if detectable else none)
