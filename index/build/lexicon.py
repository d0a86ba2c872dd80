"""Stage of a build: the words of each language, and the token statistics of the language detector."""

from collections import Counter, deque
from collections.abc import Mapping
from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from index.answers.sentence_features import Features
from index.arrays import Vectors
from index.build.encoding import BuildJob, EncodingPool
from index.build.reading import texts_of, vectors_of
from index.encoder.text_encoder import TextEncoder
from index.storage.tables import write_table
from index.text.identification import Detector, table_row
from index.words.contexts import in_context
from index.words.vocabulary import token_counts, training_tokens

MOST_WORDS = 200_000  # of a language, the most frequent
SENTENCES_COUNTED = 1 << 16  # at a time
SENTENCES_READ = 1 << 15  # at a time, for their features
CONTEXT_SENTENCES = 100_000  # read of each language for the contexts of its words


def word_counts(job: BuildJob, code: str, pool: EncodingPool) -> Counter[str]:
    """Count the words in the sentences of a language."""
    counts: Counter[str] = Counter()
    pending: deque[Future[dict[str, int]]] = deque()
    for texts in texts_of(job, code, SENTENCES_COUNTED):
        pending.append(pool.count(texts.to_pylist(), code))
        if len(pending) > pool.ahead:
            counts.update(pool.result(pending.popleft()))
    for future in pending:
        counts.update(pool.result(future))
    return counts


def write_words(
    job: BuildJob, counts: Mapping[str, Mapping[str, int]], sentences: Mapping[str, int]
) -> dict[str, Vectors]:
    """Write LANG.words.arrow and LANG.features.* of each language; return its words' unit vectors (n, d).

    `counts`: of the words, most frequent first; `sentences`: the number of sentences of each language.
    """
    vectors = {}
    for code, entries in counts.items():
        vocabulary, numbers = list(entries), np.array(list(entries.values()), np.int64)
        write_table(job.work / f"{code}.words.arrow", {"word": vocabulary, "count": numbers})
        features = Features.of(texts_of(job, code, SENTENCES_READ), vocabulary, code)
        for name, values in features.arrays(code).items():
            np.save(job.work / name, values, allow_pickle=False)
        texts = vectors_of(job, code, min(sentences[code], CONTEXT_SENTENCES))
        own = job.encoder.word_vectors(vocabulary, code)
        vectors[code] = in_context(own, features.words_of(np.arange(len(texts))), texts)
    return vectors


def detector_of(
    encoder: TextEncoder, words: Mapping[str, Counter[str]], trained: Detector | None = None
) -> Detector:
    """A Detector of the encoder's languages, from its training words and those of the corpora, `words`.

    `trained`: that of the training words alone, where it is known, whose rows of other languages are taken.
    """
    known = dict(zip(trained.languages, trained.table, strict=True)) if trained else {}
    rows: dict[str, NDArray[np.float32]] = {}
    for code, counts in training_tokens(encoder).items():
        if code in known and code not in words:
            rows[code] = known[code]
            continue
        found = counts.astype(np.float64)
        if code in words:
            found += token_counts(encoder, words[code])
        if found.any():
            rows[code] = table_row(found)
    return Detector(list(rows), np.array(list(rows.values()), np.float32).reshape(-1, encoder.vocabulary))
