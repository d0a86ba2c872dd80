"""Stage of a build: the words of each language, aligned, and the tokens by which languages are told apart."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np

from index.detect import Detector, token_table
from index.encoder import TextEncoder
from index.job import Job, making, save_array
from index.phrases import count_pairs, find_phrases, spaced
from index.procrustes import Alignment, align
from index.progress import Progress
from index.reading import texts_of
from index.texts import write_table
from index.vectors import write_vectors
from index.vocabulary import by_frequency, divided, token_counts

ROUNDS = 20  # of word alignment, at most
PHRASE_SENTENCES = 200_000  # read for phrases


@dataclass(frozen=True)
class Wording:
    """Which words an index has: those that occur `least` times, the `most` frequent, with phrases or not."""

    least: int = 1
    most: int = 200_000
    phrases: bool = True


EVERY_WORD = Wording()


def choose_words(job: Job, counts: Mapping[str, Counter[str]], wording: Wording) -> dict[str, Counter[str]]:
    """The words and phrases of each language that the index will have, and their counts."""
    chosen = {}
    for code, found in counts.items():
        every = found + Counter(phrases_of(job, code)) if wording.phrases and spaced(code) else found
        kept = [word for word in by_frequency(every) if every[word] >= wording.least]
        chosen[code] = Counter({word: every[word] for word in kept[: wording.most]})
    return chosen


def phrases_of(job: Job, code: str) -> dict[str, int]:
    """Phrases in the first PHRASE_SENTENCES sentences of a language, with their counts there."""
    texts = islice((text for batch in texts_of(job, code) for text in batch), PHRASE_SENTENCES)
    return find_phrases(*count_pairs(texts, lambda piece: divided(piece, code)))


def write_words(job: Job, counts: Mapping[str, Counter[str]]) -> Alignment:
    """Write LANG.words.faiss, .arrow and .rotation.npy of the words and their counts in each language."""
    vocabulary = {code: by_frequency(found) for code, found in counts.items()}
    vectors = {code: job.encoder.word_vectors(found, code) for code, found in vocabulary.items()}
    with Progress(ROUNDS, unit="rounds", label="align words") as bar:
        alignment = align(vectors, iterations=ROUNDS, threads=job.threads, progress=bar.advance)
    for code, rotation in alignment.rotations.items():
        with making(job.path(f"{code}.words.faiss")) as draft:
            write_vectors(draft, vectors[code] @ rotation)
        save_array(job.path(f"{code}.words.rotation.npy"), rotation)
        with making(job.path(f"{code}.words.arrow")) as draft:
            numbers = [counts[code][word] for word in vocabulary[code]]
            write_table(draft, {"word": vocabulary[code], "count": numbers})
    return alignment


def make_detector(encoder: TextEncoder, counts: Mapping[str, Counter[str]]) -> Detector:
    """A detector of the languages that have words."""
    tokens = {code: token_counts(encoder, found) for code, found in counts.items() if found}
    tokens = {code: found for code, found in tokens.items() if found.any()}
    table = np.stack(list(tokens.values())) if tokens else np.zeros((0, encoder.vocabulary))
    return Detector(tuple(tokens), token_table(table))
