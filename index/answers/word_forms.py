"""Word forms: how the corpus writes a word of the index, and sentences that use it."""

import re
from collections import Counter

import numpy as np

from index.answers.sentence_index import SentenceIndex

SENTENCES_READ = 1 << 15  # the first of a language
FORMS_COUNTED = 50  # sentences whose spelling counts
EXAMPLES_PER_WORD = 2  # sentences


def written(sentences: SentenceIndex | None, word: str, row: int) -> tuple[str, tuple[str, ...]]:
    """The most frequent spelling of a word, by its row, inside sentences; up to EXAMPLES_PER_WORD of these.

    The first word of a sentence does not count: it is capitalised anyway. Without sentences, the word.
    """
    if sentences is None:
        return word, ()
    features = sentences.features
    read = features.words[: features.offsets[min(SENTENCES_READ, len(features))]]
    places = np.flatnonzero(read == row)
    rows = np.unique(np.searchsorted(features.offsets, places, "right") - 1)[:FORMS_COUNTED]
    texts = [sentences.text(found) for found in rows.tolist()]
    pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
    forms = Counter(
        match.group() for text in texts for match in pattern.finditer(text) if text[: match.start()].strip()
    )
    form = forms.most_common(1)[0][0] if forms else word
    return form, tuple(texts[:EXAMPLES_PER_WORD])
