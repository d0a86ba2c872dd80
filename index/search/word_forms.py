"""Word forms: how the corpus writes the words of a language, and sentences that use them."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection
from itertools import pairwise

from index.search.sentence_index import SentenceIndex

SENTENCES_READ = 1 << 15  # the first of a language
EXAMPLES_PER_WORD = 2  # sentences for each word
WORD_PATTERN = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


class WordForms:
    """How the folded words and two-word phrases of a vocabulary are written, and sentences that contain them.

    Collected from the first SENTENCES_READ sentences. The first word of a sentence does not count as a form,
    because it is capitalised anyway.
    """

    def __init__(self, sentences: SentenceIndex, vocabulary: Collection[str]) -> None:
        self._sentences = sentences
        self._forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._rows: defaultdict[str, list[int]] = defaultdict(list)
        texts = sentences.texts(0, min(SENTENCES_READ, len(sentences)))
        for row, text in enumerate(texts.to_pylist()):
            written = WORD_PATTERN.findall(text)
            pairs = [f"{first} {second}" for first, second in pairwise(written)]
            for place, form in [*enumerate(written), *enumerate(pairs)]:
                if (word := form.lower()) in vocabulary:
                    if place:
                        self._forms[word][form] += 1
                    if len(self._rows[word]) < EXAMPLES_PER_WORD and row not in self._rows[word]:
                        self._rows[word].append(row)

    def form(self, word: str) -> str:
        """The most frequent spelling of a folded word inside sentences; the word itself if there is none."""
        forms = self._forms.get(word)
        return forms.most_common(1)[0][0] if forms else word

    def examples(self, word: str) -> tuple[str, ...]:
        """Up to EXAMPLES_PER_WORD sentences that contain a folded word."""
        return tuple(self._sentences.sentence(row).text for row in self._rows.get(word, ()))
