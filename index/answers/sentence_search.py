"""SentenceSearch: questions -> answers among the sentences of an index.

A question is looked up in the translation memory of its own language (memory.py) and compared with the
sentences of the other (candidates.py); the evidence of both (evidence.py) gives a confidence, contrasts limit
it (guard.py), and what is left in order is made answers.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field

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

    def answers(
        self, asked: Questions, target: str, counts: Sequence[int], *, memory_alone: bool = False
    ) -> list[Answers]:
        """Answer questions, each with up to `counts` of the sentences in `target`.

        Those that the corpus has in the language of the questions, too, are found through that, as are all in
        a language that the encoder does not know; and with `memory_alone` only if nearly the same text was
        translated.
        """
        if target not in self.sentences:
            return [()] * len(counts)
        index, source = self.sentences[target], asked.language
        considered = [0 if memory_alone else max(count, ANSWERS_CONSIDERED) for count in counts]
        recalled = self._recalled(asked, index, max(1, *counts), memory_alone)
        table = self._with_memory(self._candidates(asked, index, considered), recalled, asked, index)
        answered = index.features.words_of(table["row"])
        words = WordPairs(asked, self.words[source], self.words[target], table["question"], answered)
        add_evidence(
            table,
            asked,
            index.features,
            None if self.taught & {source, target} else words,
            self.confidence.lengths,
            (source, target),
            token_scores=self.token_scores,
            best=index.best_from(source),
        )
        table, contrasts = self._judged(table, asked, index, None if memory_alone else counts)
        differs = self._differences(table, asked, index, recalled, words, contrasts)
        return self._answers(table, asked, index, recalled, differs, self._glosses(table, index, source))

    def _judged(
        self, table: Candidates, asked: Questions, index: SentenceIndex, counts: Sequence[int] | None
    ) -> tuple[Candidates, dict[int, Sequence[Contrast]]]:
        """Candidates in the order of answers, with `confidence`; and what they say otherwise, by `place`.

        `counts[i]` of question i, or all.
        """
        found, chances = table["remembered"] > 0, self.confidence.of_sentences(table.columns)
        strength = np.where(found, table["strength"], chances)
        confidence = np.where(found, table["remembered"], chances)
        table.columns.update(place=np.arange(len(table)), strength=strength, confidence=confidence)
        # What is likely is compared before it is ordered; what is near only where it is shown.
        contrasts = self._contrasts(table.take(~found & (chances >= MIN_CONFIDENCE)), asked, index)
        confidence = self.confidence.limited(confidence, [*contrasts])
        table.columns["confidence"] = confidence
        # What is exact comes first, then what is likely, then the nearest, even if it says something else.
        order = -strength, confidence < MIN_CONFIDENCE, confidence < 1
        table = table.take(np.lexsort((*order, table["question"])))
        if counts is not None:
            table = limited(table, counts)
        strength, near = table["strength"], self.confidence.near
        shown_near = (table["remembered"] == 0) & (strength >= near) & (strength < MIN_CONFIDENCE)
        contrasts |= self._contrasts(table.take(shown_near), asked, index)
        otherwise = np.flatnonzero(np.isin(table["place"], [*contrasts]))
        table.columns["confidence"] = self.confidence.limited(table["confidence"], otherwise)
        return table, contrasts

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
                contrasts[place] = contrasting(asked, question, *self._understood(index, row), words)
                likely = chance >= MIN_CONFIDENCE  # what is searched for takes long
                if likely and not contrasts[place] and table["shortfall"][number] < -SUITS_BETTER:
                    suits_another.append((question, row, place))
        nearest = self._nearest_texts(index, [row for _, row, _ in suits_another], asked.language)
        for (question, _, place), text in zip(suits_another, nearest, strict=False):
            contrasts[place] = contrasting(asked, question, text, asked.language, words)
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

    def _recalled(self, asked: Questions, index: SentenceIndex, most: int, memory_alone: bool) -> Recalled:
        """Sentences of its own language that may say what a question says, by what translates them."""
        memory, language = self.sentences.get(asked.language), asked.language
        aligned = memory is index or (memory and memory.groups and index.groups)
        if memory is None or not aligned or not asked.texts:
            return {}
        words = self.words[language]
        cosines, rows = memory.vectors.search(asked.vectors, MEMORY_CANDIDATES)
        table = ranked(cosines, rows, memory.means_from(language)[rows], MEMORY_CANDIDATES)
        pairs = WordPairs(asked, words, words, table["question"], memory.features.words_of(table["row"]))
        add_evidence(table, asked, memory.features, pairs, self.confidence.lengths, (language, language))
        table.columns["chance"] = self.confidence.of_paraphrases(table.columns)
        recalled: Recalled = {}
        sentences = Memory(memory, index, words, self.confidence)
        found = sentences.of_questions(asked, table, most, alike_alone=memory_alone)
        for question, remembered in enumerate(found):
            for one in remembered:
                recalled.setdefault((question, one.row), one)
        return recalled

    def _with_memory(
        self, table: Candidates, recalled: Recalled, asked: Questions, index: SentenceIndex
    ) -> Candidates:
        """Add what the corpus translates, with `remembered`, its confidence, and `strength`, 0 for others."""
        table.columns["remembered"] = table.columns["strength"] = np.zeros(len(table))
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

    def _differences(
        self,
        table: Candidates,
        asked: Questions,
        index: SentenceIndex,
        recalled: Recalled,
        words: WordPairs,
        contrasts: Mapping[int, Sequence[Contrast]],
    ) -> list[Differs]:
        """The words by which answers differ from their questions; `contrasts` by the column `place`."""
        rows, own = table["row"].tolist(), asked.language == index.language
        texts = [index.text(row) for row in rows]
        if rows and index.language in self.sources:
            differs = words.differences(table["place"], index.vectors.reconstruct(rows), texts)
        else:
            differs = [NO_DIFFERENCES] * len(rows)
        names = "question", "place", "confidence"
        values = zip(*(table[name].tolist() for name in names), strict=True)
        for number, (question, place, confidence) in enumerate(values):
            remembered = recalled.get((question, rows[number]))
            said = remembered.contrasts if remembered else contrasts.get(place, ())
            original = self.sentences[asked.language].text(remembered.original) if remembered else None
            answer = remembered.text if remembered else texts[number], index.language
            if original and confidence >= MIN_CONFIDENCE:
                differs[number] = NO_DIFFERENCES
                continue
            if original and not own and any(one.question or one.answer for one in said):
                found = differing(said, asked, question, original, answer, self.words[asked.language])
            else:
                found = with_contrasts(differs[number], said, asked.bare[question], *answer)
            differs[number] = with_numbers(found, asked.bare[question], original, asked.language)
        return differs

    def _answers(
        self,
        table: Candidates,
        asked: Questions,
        index: SentenceIndex,
        recalled: Recalled,
        differs: Sequence[Differs],
        glosses: Mapping[int, str],
    ) -> list[Answers]:
        """Make answers of a table, in its order."""
        own = asked.language == index.language  # sentences that mean the same are no translations
        answers: list[list[Answer]] = [[] for _ in range(table.count)]
        names = "question", "row", "score", "confidence", "contradicts"
        values = zip(*(table[name].tolist() for name in names), strict=True)
        for place, (question, row, score, confidence, contradicts) in enumerate(values):
            remembered, original, sentence = recalled.get((question, row)), None, index.sentence(row)
            likeness = remembered.likeness if remembered else None
            if remembered and not own:
                translated_one = self.sentences[asked.language].sentence(remembered.original)
                original = Original(text=translated_one.text, id=translated_one.id)
            penalties: tuple[str, ...] = ("numbers",) if contradicts and not remembered else ()
            answers[question].append(
                Answer(
                    text=remembered.text if remembered else sentence.text,
                    score=round(score, DIGITS),
                    confidence=round(confidence, DIGITS),
                    id=sentence.id,
                    match=self.confidence.match_of(
                        confidence, likeness.similarity if likeness else None, own=remembered is not None
                    ),
                    similarity=round(likeness.similarity, DIGITS) if likeness else None,
                    original=original,
                    gloss=original.text if original else glosses.get(place),
                    differs=differs[place],
                    penalties=likeness.penalties if likeness else penalties,
                    metadata=dict(sentence.metadata),
                )
            )
        return list(map(tuple, answers))

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
