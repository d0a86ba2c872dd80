"""WordSearch: words -> their translations among the words of an index, or those that were taught."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from index.answers.answer import DIGITS, Answer, Answers
from index.answers.candidates import limited
from index.answers.evidence import word_candidates
from index.answers.pictured_words import pictured_candidates
from index.answers.sentence_index import SentenceIndex
from index.answers.word_index import UNKNOWN_WORD, WordIndex, fold
from index.confidence import MIN_CONFIDENCE
from index.confidence.models import PICTURED_WORD, Confidence
from index.encoder.pictures import Pictograms
from index.text.contrasts.compare import contrasts
from index.text.courtesies import without_article

SENTENCES_READ = 1 << 15  # the first of a language
FORMS_COUNTED = 50  # sentences whose spelling counts
EXAMPLES_PER_WORD = 2  # sentences


@dataclass(frozen=True)
class WordSearch:
    """The words of an index, which are compared by their sentences, or by pictures where these tell more.

    `words`: of all languages; `taught`: of those that the encoder was taught; `sources`: that it knows.
    """

    words: Mapping[str, WordIndex]
    taught: Mapping[str, WordIndex]
    sentences: Mapping[str, SentenceIndex]
    sources: Collection[str]
    pictograms: Pictograms | None
    confidence: Confidence

    def answers(self, words: Sequence[str], source: str, target: str, counts: Sequence[int]) -> list[Answers]:
        """Answer words, each with up to `counts` of the words in `target`, if the encoder knows it."""
        if target not in self.sources:
            return [()] * len(words)
        asked, index = (self.taught.get(code) or self.words[code] for code in (source, target))
        folded = [asked.respelled(without_article(fold(word), source)) for word in words]
        rows = asked.rows_of(folded)
        # Words without sentences are compared by pictures, and so are those that were taught.
        by_pictures = any(code in self.taught or code not in self.sentences for code in (source, target))
        if self.pictograms is not None and by_pictures:
            table = pictured_candidates(folded, asked, index, self.pictograms.vectors, max(counts))
            chances = PICTURED_WORD.probability(table.columns)
        else:
            table = word_candidates(folded, rows, asked, index, max(counts))
            chances = self.confidence.word.probability(table.columns)
        otherwise = []
        for place in np.flatnonzero(chances >= MIN_CONFIDENCE).tolist():
            word, answer = folded[table["question"][place]], index.text(table["row"][place])
            several = " " in word and word not in asked  # "New York" is not "York"
            if several or any(contrasts(word, source, answer, target, meanings=asked.meanings)):
                otherwise.append(place)
        table = table.with_columns(confidence=self.confidence.limited(chances, otherwise))
        table = limited(table.take(np.lexsort((-table["confidence"], table["question"]))), counts)
        answers: list[list[Answer]] = [[] for _ in words]
        names = "question", "row", "csls", "confidence"
        for question, row, score, chance in zip(*(table[name].tolist() for name in names), strict=True):
            word = index.text(row)
            known = int(self.words[target].rows_of([word])[0])
            form, examples = _written(self.sentences.get(target), word, known)
            answers[question].append(
                Answer(
                    text=form,
                    score=round(score, DIGITS),
                    confidence=round(chance, DIGITS),
                    id=index.id(row),
                    match=self.confidence.match_of(chance),
                    in_vocabulary=bool(rows[question] != UNKNOWN_WORD),
                    examples=examples,
                )
            )
        return list(map(tuple, answers))


def _written(sentences: SentenceIndex | None, word: str, row: int) -> tuple[str, tuple[str, ...]]:
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
