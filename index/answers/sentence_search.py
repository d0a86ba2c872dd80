"""SentenceSearch: questions -> answers among the sentences of an index.

A question is looked up in the translation memory of its own language (memory.py) and compared with the
sentences of the other (candidates.py); the evidence of both (evidence.py) gives a confidence, contrasts limit
it (guard.py), and what is left in order is made answers.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.answers.answer import DIGITS, NO_DIFFERENCES, Answer, Answers, Differs, Original
from index.answers.candidates import (
    ANSWERS_CONSIDERED,
    SUPPORTED_CONSIDERED,
    Candidates,
    limited,
    ranked,
    with_rows,
)
from index.answers.evidence import Questions, WordPairs, add_evidence
from index.answers.guard import (
    MOST_LENGTH_DIFFERENCE,
    SUITS_BETTER,
    contrasting,
    differing,
    with_contrasts,
    with_numbers,
)
from index.answers.memory import MEMORY_CANDIDATES, Memory, Remembered
from index.answers.sentence_index import SentenceIndex, supported, translated
from index.answers.word_index import WordIndex
from index.confidence import MIN_CONFIDENCE
from index.confidence.models import Confidence
from index.text.contrasts.contrast import ADDED, Contrast
from index.vectors.vector_index import CANDIDATE_COUNT

Recalled = dict[tuple[int, int], Remembered]  # question, row of its translation -> the sentence it translates


@dataclass(frozen=True)
class SentenceSearch:
    """The sentences of an index, with the words of all languages and the confidence of answers.

    `sources`: the languages that the encoder knows, of which some were `taught`; `token_scores`: as of
    `Translator`.
    """

    sentences: Mapping[str, SentenceIndex]
    words: Mapping[str, WordIndex]
    sources: Collection[str]
    taught: Set[str]
    confidence: Confidence
    token_scores: NDArray[np.float32] | None
    _aligned: dict[str, list[SentenceIndex]] = field(default_factory=dict)

    def answers(self, asked: Questions, target: str, counts: Sequence[int]) -> list[Answers]:
        """Answer questions, each with up to `counts` of the sentences in `target`.

        What the corpus has in the language of the questions, too, is found through that, as is all in a
        language that the encoder does not know.
        """
        if (index := self.sentences.get(target)) is None:
            return [()] * len(counts)
        table = self._candidates(asked, index, [max(count, ANSWERS_CONSIDERED) for count in counts])
        return self._answered(table, self._recalled(asked, index, max(counts)), asked, index, counts)

    def remembered(self, asked: Questions, target: str) -> list[Answers]:
        """Answer questions with what translates nearly the same texts in the corpus, and nothing else."""
        if (index := self.sentences.get(target)) is None:
            return [()] * len(asked.texts)
        recalled = self._recalled(asked, index, 1, alike_alone=True)
        nothing, every = ([most] * len(asked.texts) for most in (0, len(recalled)))
        return self._answered(self._candidates(asked, index, nothing), recalled, asked, index, every)

    def _answered(
        self,
        table: Candidates,
        recalled: Recalled,
        asked: Questions,
        index: SentenceIndex,
        counts: Sequence[int],
    ) -> list[Answers]:
        """Make answers of candidates and of what was recalled, up to `counts` to each question."""
        source, target = asked.language, index.language
        table = self._with_memory(table, recalled, asked, index)
        answered = index.features.words_of(table["row"])
        words = WordPairs(asked, self.words[source], self.words[target], table["question"], answered)
        table = add_evidence(
            table,
            asked,
            index.features,
            None if self.taught & {source, target} else words,
            self.confidence.lengths,
            target,
            token_scores=self.token_scores,
            best=index.best_from(source),
        )
        table, contrasts = self._judged(table, asked, index, counts)
        return self._answers(table, asked, index, recalled, words, contrasts)

    def _judged(
        self, table: Candidates, asked: Questions, index: SentenceIndex, counts: Sequence[int]
    ) -> tuple[Candidates, dict[int, Sequence[Contrast]]]:
        """The first `counts` candidates in the order of answers, with `confidence`.

        And what they say otherwise, by `place`.
        """
        found, chances = table["remembered"] > 0, self.confidence.of_sentences(table.columns)
        strength = np.where(found, table["strength"], chances)
        confidence = np.where(found, table["remembered"], chances)
        table = table.with_columns(place=np.arange(len(table)), strength=strength, confidence=confidence)
        # What is likely is compared before it is ordered; what is near only where it is shown.
        contrasts = self._contrasts(table.take(~found & (chances >= MIN_CONFIDENCE)), asked, index)
        confidence = self.confidence.limited(confidence, [*contrasts])
        table = table.with_columns(confidence=confidence)
        # What is exact comes first, then what is likely, then the nearest, even if it says something else.
        order = -strength, confidence < MIN_CONFIDENCE, confidence < 1
        table = limited(table.take(np.lexsort((*order, table["question"]))), counts)
        strength, near = table["strength"], self.confidence.near
        shown_near = (table["remembered"] == 0) & (strength >= near) & (strength < MIN_CONFIDENCE)
        contrasts |= self._contrasts(table.take(shown_near), asked, index)
        otherwise = np.flatnonzero(np.isin(table["place"], [*contrasts]))
        confidence = self.confidence.limited(table["confidence"], otherwise)
        return table.with_columns(confidence=confidence), contrasts

    def _candidates(self, asked: Questions, index: SentenceIndex, considered: Sequence[int]) -> Candidates:
        """The sentences nearest to questions, `considered[i]` of question i, but those found through memory.

        What is said in a language without sentences, or in one that was taught, of which the encoder knows
        little, is looked for in all that the corpus aligns.
        """
        source, most = asked.language, max(considered)
        memory = self.sentences.get(source)
        aligned = self._aligned_with(index) if memory is None or source in self.taught else []
        searched, *others = aligned or [index]
        cosines, rows = searched.vectors.search(asked.vectors, max(CANDIDATE_COUNT, most))
        means = searched.means_from("" if aligned else source)
        if aligned:
            most = max(most, SUPPORTED_CONSIDERED)
        elif memory:
            most = rows.shape[1]  # of which some are left out
        table = ranked(cosines, rows, means[rows], most)
        if aligned:
            table = translated(supported(table, asked.vectors, searched, others), searched, index)
        if memory:
            unread = index.language not in self.sources
            table = table.take(~(unread | index.said_in(memory)[table["row"]]))
        return limited(table, considered)

    def _aligned_with(self, index: SentenceIndex) -> list[SentenceIndex]:
        """The languages that the encoder knows and the corpus aligns with one: first itself, or the most."""
        if (code := index.language) not in self._aligned:
            known = [one for own, one in self.sentences.items() if own in self.sources]
            shared = {one: index.groups.shared(one.groups) for one in known if index.groups and one.groups}
            found = sorted(filter(shared.get, shared), key=lambda one: (one is not index, -shared[one]))
            self._aligned[code] = found if found != [index] else []
        return self._aligned[code]

    def _contrasts(
        self, table: Candidates, asked: Questions, index: SentenceIndex
    ) -> dict[int, Sequence[Contrast]]:
        """What candidates say otherwise than their questions, by place, if anything.

        But for those found through the language of the questions, which were compared there. What a candidate
        says itself is compared, and the sentence of that language that it suits better, if there is one.
        """
        contrasts: dict[int, Sequence[Contrast]] = {}
        columns = (table[name].tolist() for name in ("question", "row", "place", "confidence"))
        words, suits_another = self.words[asked.language], []
        differences = table.columns.get("length_difference", np.zeros(len(table)))
        for number, (question, row, place, chance) in enumerate(zip(*columns, strict=True)):
            if differences[number] > MOST_LENGTH_DIFFERENCE:
                contrasts[place] = (Contrast(ADDED),)
            else:
                contrasts[place] = list(contrasting(asked, question, *self._understood(index, row), words))
                likely = chance >= MIN_CONFIDENCE  # what is searched for takes long
                if likely and not contrasts[place] and table["shortfall"][number] < -SUITS_BETTER:
                    suits_another.append((question, row, place))
        nearest = self._nearest_texts(index, [row for _, row, _ in suits_another], asked.language)
        for (question, _, place), text in zip(suits_another, nearest, strict=False):
            contrasts[place] = list(contrasting(asked, question, text, asked.language, words))
        return {place: found for place, found in contrasts.items() if found}

    def _nearest_texts(self, index: SentenceIndex, rows: Sequence[int], source: str) -> list[str]:
        """The sentence in `source` nearest to each of some rows of another language; [] if there are none."""
        own = self.sentences.get(source)
        if own is None or not rows:
            return []
        _, found = own.vectors.search(index.vectors.reconstruct(rows), 1)
        return list(map(own.text, found[:, 0].tolist()))

    def _understood(self, index: SentenceIndex, row: int) -> tuple[str, str]:
        """A sentence and its language; of one that the encoder does not know, an aligned sentence."""
        aligned = [index] if index.language in self.sources else self._aligned_with(index)
        found = ((index.translations(row, one), one) for one in aligned)
        return next(((one.text(rows[0]), one.language) for rows, one in found if rows), ("", index.language))

    def _recalled(
        self, asked: Questions, index: SentenceIndex, most: int, *, alike_alone: bool = False
    ) -> Recalled:
        """Sentences of its own language that may say what a question says, by what translates them.

        With `alike_alone`, only those that are nearly the same text.
        """
        memory, language = self.sentences.get(asked.language), asked.language
        aligned = memory is index or (memory and memory.groups and index.groups)
        if memory is None or not aligned or not asked.texts:
            return {}
        words = self.words[language]
        cosines, rows = memory.vectors.search(asked.vectors, MEMORY_CANDIDATES)
        table = ranked(cosines, rows, memory.means_from(language)[rows], MEMORY_CANDIDATES)
        pairs = WordPairs(asked, words, words, table["question"], memory.features.words_of(table["row"]))
        table = add_evidence(table, asked, memory.features, pairs, self.confidence.lengths, language)
        table = table.with_columns(chance=self.confidence.of_paraphrases(table.columns))
        recalled: Recalled = {}
        sentences = Memory(memory, index, words, self.confidence)
        found = sentences.of_questions(asked, table, most, alike_alone=alike_alone)
        for question, remembered in enumerate(found):
            for one in remembered:
                recalled.setdefault((question, one.row), one)
        return recalled

    def _with_memory(
        self, table: Candidates, recalled: Recalled, asked: Questions, index: SentenceIndex
    ) -> Candidates:
        """Add what the corpus translates, with `remembered`, its confidence, and `strength`, 0 for others."""
        table = table.with_columns(remembered=np.zeros(len(table)), strength=np.zeros(len(table)))
        if not recalled:
            return table
        questions, rows = np.array(list(recalled), np.int64).T
        added = {
            "question": questions,
            "row": rows,
            "remembered": np.array([memory.confidence for memory in recalled.values()]),
            "strength": np.array([memory.strength for memory in recalled.values()]),
        }
        return with_rows(table, added, asked.vectors, index.vectors, index.means_from(asked.language))

    def _answers(
        self,
        table: Candidates,
        asked: Questions,
        index: SentenceIndex,
        recalled: Recalled,
        words: WordPairs,
        contrasts: Mapping[int, Sequence[Contrast]],
    ) -> list[Answers]:
        """Make answers of a table, in its order; `contrasts` by the column `place`."""
        rows, language = table["row"].tolist(), index.language
        sentences, differs = list(map(index.sentence, rows)), [NO_DIFFERENCES] * len(rows)
        if rows and language in self.sources:
            texts = [sentence.text for sentence in sentences]
            differs = words.differences(table["place"], index.vectors.reconstruct(rows), texts)
        glosses = self._glosses(table, index, asked.language)
        answers: list[list[Answer]] = [[] for _ in range(table.count)]
        names = "question", "place", "score", "confidence", "contradicts"
        values = zip(*(table[name].tolist() for name in names), strict=True)
        for number, (question, place, score, confidence, contradicts) in enumerate(values):
            sentence, known = sentences[number], recalled.get((question, rows[number]))
            if known:
                found = self._as_remembered(known, asked, question, language, confidence, differs[number])
            else:
                said, text = contrasts.get(place, ()), sentence.text
                found = {
                    "text": text,
                    "match": self.confidence.match_of(confidence),
                    "gloss": glosses.get(number),
                    "differs": with_contrasts(differs[number], said, asked.bare[question], text, language),
                    "penalties": ("numbers",) if contradicts else (),
                }
            shown = {"score": round(score, DIGITS), "confidence": round(confidence, DIGITS)}
            answers[question].append(
                Answer(**shown, id=sentence.id, metadata=dict(sentence.metadata), **found)
            )
        return list(map(tuple, answers))

    def _as_remembered(
        self,
        one: Remembered,
        asked: Questions,
        question: int,
        language: str,
        confidence: float,
        differs: Differs,
    ) -> dict[str, Any]:
        """The fields of an answer that translates a sentence of the question's language, or is that."""
        original, likeness = self.sentences[asked.language].sentence(one.original), one.likeness
        own = asked.language == language
        if confidence >= MIN_CONFIDENCE:
            differs = NO_DIFFERENCES
        elif not own and any(contrast.question or contrast.answer for contrast in one.contrasts):
            answer, words = (one.text, language), self.words[asked.language]
            differs = differing(one.contrasts, asked, question, original.text, answer, words)
        else:
            differs = with_contrasts(differs, one.contrasts, asked.bare[question], one.text, language)
        if confidence < MIN_CONFIDENCE:
            differs = with_numbers(differs, asked.bare[question], original.text, asked.language)
        similarity = likeness.similarity if likeness else None
        return {
            "text": one.text,
            "match": self.confidence.match_of(confidence, similarity, own=True),
            "similarity": similarity and round(similarity, DIGITS),
            "original": None if own else Original(text=original.text, id=original.id),
            "gloss": None if own else original.text,
            "differs": differs,
            "penalties": likeness.penalties if likeness else (),
        }

    def _glosses(self, table: Candidates, index: SentenceIndex, source: str) -> dict[int, str]:
        """The sentences in `source` that likely say what answers say, of those that may be shown, by place.

        What the corpus has for them is known.
        """
        rows, model = table["row"], self.confidence.gloss
        if model is None or source in self.taught:
            return {}
        likely = model.probability({"score": index.best_from(source)[rows]}) >= MIN_CONFIDENCE
        shown = (table["confidence"] >= self.confidence.near) & (table["remembered"] == 0)
        places = np.flatnonzero(likely & shown).tolist()
        return dict(zip(places, self._nearest_texts(index, rows[places].tolist(), source), strict=False))
