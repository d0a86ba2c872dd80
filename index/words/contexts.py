"""Word vectors from contexts: the mean of the sentences that contain a word, mixed with that of its tokens.

The encoder was trained to compare sentences, and the sentences that contain a word show what it means.
"""

import numpy as np

from index.arrays import Numbers, Vectors, unit
from index.text.pre_tokens import Tokens

CONTEXTS_PER_WORD = 100  # sentences per word: more change nothing
OWN_WEIGHT = 2.0  # of a word's own vector beside one sentence (docs/research.md)
WORDS_AT_ONCE = 1 << 12  # mixed at a time, to bound memory


def in_context(own: Vectors, words: Tokens, texts: Vectors) -> Vectors:
    """Mix the words' `own` unit vectors (count, d) with their contexts -> (count, d) unit rows.

    `words`: rows of `own`, of each text; `texts` (n, d), perhaps memory-mapped. For a word that m of the
    texts contain, at most the first CONTEXTS_PER_WORD, the weighted mean of two unit vectors: its own,
    OWN_WEIGHT times, and m times the direction from the mean of all texts to the mean of those m. A word in
    no text keeps its own vector.
    """
    sums, counts = _sums(len(own), words, texts)
    mean = texts.mean(axis=0, dtype=np.float64) if len(texts) else 0
    mixed = np.empty_like(own)
    # In blocks: float64 copies of all would take several times the memory of the vectors.
    for start in range(0, len(own), WORDS_AT_ONCE):
        rows = slice(start, start + WORDS_AT_ONCE)
        weights = counts[rows, None] / (counts[rows, None] + OWN_WEIGHT)
        contexts = sums[rows] / np.maximum(counts[rows, None], 1) - mean
        mixed[rows] = unit((1 - weights) * own[rows] + weights * unit(contexts))
    return mixed


def _sums(count: int, words: Tokens, texts: Vectors) -> tuple[Vectors, Numbers]:
    """(count, d) the sums of each word's first CONTEXTS_PER_WORD texts, and their number (count,)."""
    # Not `unique`, which looks them up before it sorts them.
    keys = np.sort(words.ids * len(texts) + words.texts)
    distinct = keys[np.diff(keys, prepend=-1) != 0]
    rows, numbers = np.divmod(distinct, max(1, len(texts)))
    lengths = np.bincount(rows, minlength=count)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    order = np.argsort(place, kind="stable")
    sums = np.zeros((count, texts.shape[1]), np.float32)
    # The nth text of every word at once: `reduceat` over the rows is slower.
    ends = np.cumsum(np.bincount(place)[:CONTEXTS_PER_WORD])
    for nth in np.split(order[: ends[-1]], ends[:-1]) if len(ends) else ():
        sums[rows[nth]] += texts[numbers[nth]]
    return sums, np.minimum(lengths, CONTEXTS_PER_WORD)
