"""Translator: an opened index with its encoder. Everything that translates asks it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from index.answers.answer import DIGITS, NO_DIFFERENCES, Answer, Answers, LanguageInfo, Original, Pictogram
from index.answers.candidates import (
    ANSWERS_CONSIDERED,
    SUPPORTED_CONSIDERED,
    Candidates,
    limited,
    ranked,
    with_rows,
)
from index.answers.corpus_words import CorpusWords
from index.answers.evidence import Asked, WordPairs, add_evidence, word_candidates
from index.answers.guard import MOST_LENGTH_DIFFERENCE, SUITS_BETTER, contrasting, limit_at, with_contrasts
from index.answers.languages import Languages
from index.answers.memory import MEMORY_CANDIDATES, Remembered, remember
from index.answers.pictured_words import pictured_candidates
from index.answers.request import Kind, Query
from index.answers.sentence_features import WORDS_READ
from index.answers.sentence_index import SentenceIndex, supported, translated
from index.answers.word_forms import written
from index.answers.word_index import UNKNOWN_WORD, WordIndex, fold
from index.confidence import MIN_CONFIDENCE
from index.confidence.models import Confidence
from index.encoder.bundle import open_index_encoder
from index.encoder.pictures import Pictograms
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.errors import UnknownLanguageError
from index.languages import language
from index.storage.index_manifest import IndexManifest
from index.storage.tables import read_array
from index.storage.versions import DETECTOR, DOMAIN, open_version
from index.text.contrasts import contrasts
from index.text.contrasts.contrast import ADDED, Contrast
from index.text.courtesies import without_courtesies
from index.text.fasttext_model import fasttext_chances
from index.text.identification import Detector, clear_language, has_letters
from index.text.normalisation import clean, words_of
from index.text.placeables import put_back, without_tags
from index.text.pre_tokens import Tokens
from index.vectors.vector_index import CANDIDATE_COUNT

ROWS_AT_ONCE = 1 << 11  # candidates in a table
# The columns of which answers are made.
NAMES = "question", "row", "score", "confidence", "contradicts", "place", "inexact", "similarity"
Recalled = dict[tuple[int, int], Remembered]  # question, row of its translation -> the sentence it translates
StageName = Literal["tokenise", "encode", "search"]
Stage = Callable[[StageName], AbstractContextManager[object]]  # entered for as long as a stage takes


def untimed(stage: StageName) -> AbstractContextManager[object]:
    """A Stage that does nothing."""
    return nullcontext()


class Translator:
    """One version of an index, read-only and safe to share between threads.

    Without a `detector`, no language is detected; without `token_scores` (build/domain.py), every text counts
    as one of a kind that the index holds. Searching and encoding run in the calling thread and use at most
    `threads` threads for one call.
    """

    def __init__(
        self,
        manifest: IndexManifest,
        encoder: TextEncoder,
        sentences: Mapping[str, SentenceIndex],
        words: Mapping[str, WordIndex],
        detector: Detector | None = None,
        pictograms: Pictograms | None = None,
        token_scores: NDArray[np.float32] | None = None,
    ) -> None:
        self.manifest = manifest
        self.encoder = encoder
        self.confidence: Confidence = manifest.confidence
        self.pictograms = pictograms  # those that the encoder learned from; None if its bundle has none
        self.sentence_indexes = sentences
        self._detector, self._token_scores = detector, token_scores
        # Any language of the encoder can be a source, since questions are encoded and not looked up. Any that
        # the corpus aligns with these can be a target.
        self._sources = encoder.bundle.manifest.languages
        self._aligned: dict[str, list[SentenceIndex]] = {}
        codes = dict.fromkeys([*sentences, *self._sources])
        self.word_indexes = {code: words.get(code) or WordIndex(code, encoder) for code in codes}
        # Of languages with aligned sentences: others are not compared with a question's own words.
        self._corpus_words = {
            code: CorpusWords(self.word_indexes[code], index.features)
            for code, index in sentences.items()
            if index.groups
        }
        taught = encoder.bundle.taught if pictograms else ()
        self._taught = {code: WordIndex.taught(code, encoder) for code in taught}
        # Whose words are compared by pictures, not by the sentences that contain them.
        self._pictured = {*codes} - {*sentences} | {*self._taught}
        self.languages = tuple(map(self._info, codes))
        self.known = Languages(self.languages)

    @classmethod
    def open(
        cls, index: Path, *, version: str | None = None, threads: int = 1, like: "Translator | None" = None
    ) -> "Translator":
        """Verify and open a version of an index, by default the current one.

        The encoder is that of `like`, another version, if it is the same. Files may be removed or replaced
        afterwards: each is mapped or read here, none by a later call.
        Raises BundleError if there is no index or no such version, FormatError, DamagedError.
        """
        folder, manifest = open_version(index, version)
        bundle = open_index_encoder(folder, manifest)
        same = like is not None and like.encoder.bundle.manifest.digest == bundle.manifest.digest
        encoder = like.encoder if like and same else TextEncoder(bundle, threads=threads)
        codes = manifest.languages
        return cls(
            manifest,
            encoder,
            {code: SentenceIndex.open(folder, code, manifest, threads) for code in codes},
            {code: WordIndex.open(folder, code, manifest, encoder, threads) for code in codes},
            Detector(
                manifest.detects,
                read_array(folder / DETECTOR, (len(manifest.detects), encoder.vocabulary)),
                tuple(codes),
            ),
            Pictograms.open(bundle),
            np.array(read_array(folder / DOMAIN, (encoder.vocabulary,))),  # slow as a memory map
        )

    @property
    def model(self) -> str:
        """The encoder's name and version, such as `open@1`."""
        return self.encoder.name

    @property
    def version(self) -> str:
        """The ID of the index version, such as `20261120-1`."""
        return self.manifest.version

    def answer(self, queries: Sequence[Query], stage: Stage = untimed) -> list[Answers]:
        """Answer queries, best answers first; texts are encoded once, whatever their number of targets.

        If the index has translations of a text, or of nearly that text, they come first, and `match` says so
        (memory.py). `stage` is entered for each stage: tokenise, encode, search. Raises RequestError.
        """
        queries = [query._replace(text=clean(query.text)) for query in queries]
        places: dict[tuple[Kind, str, str], list[int]] = {}
        for place, query in enumerate(queries):
            places.setdefault((query.kind, query.source, query.target), []).append(place)
        for kind, source, target in places:
            self._check(source, target, own=kind == "sentence")
        texts = dict.fromkeys((query.source, query.text) for query in queries if query.kind == "sentence")
        asked = self._asked(texts, stage)
        answers: list[Answers] = [()] * len(queries)
        for (kind, source, target), members in places.items():
            with stage("search"):
                for begin, end in _blocks(max(queries[place].k for place in members), len(members)):
                    block = members[begin:end]
                    counts = [queries[place].k for place in block]
                    wanted = [queries[place].text for place in block]
                    if kind == "sentence":
                        found = self._sentences(asked[source].of(wanted), target, counts)
                    else:
                        found = self._translated_words(wanted, source, target, counts)
                    for place, row in zip(block, found, strict=True):
                        answers[place] = row
        return answers

    def sentences(self, texts: Sequence[str], source: str, target: str, k: int = 1) -> list[Answers]:
        """Find the k sentences in `target` that best translate each text in `source`, as `answer` does.

        In its own language, those that mean the same.
        """
        return self.answer([Query("sentence", text, source, target, k) for text in texts])

    def words(self, words: Sequence[str], source: str, target: str, k: int = 1) -> list[Answers]:
        """Find the k words in `target` that best translate each word in `source`, as `answer` does.

        `in_vocabulary` says whether the index has the word that was asked for; a word that it does not have
        is translated by its subwords.
        """
        return self.answer([Query("word", word, source, target, k) for word in words])

    def remember(self, texts: Sequence[str], source: str, target: str) -> list[Answers]:
        """Look each text in `source` up in the translation memory alone; () for a text that it does not have.

        Raises RequestError.
        """
        self._check(source, target)
        texts = [clean(text) for text in texts]
        asked = self._asked(dict.fromkeys((source, text) for text in texts), untimed)
        found: list[Answers] = []
        for begin, end in _blocks(1, len(texts)):
            block = texts[begin:end]
            found += self._sentences(asked[source].of(block), target, [0] * len(block), memory_alone=True)
        return found

    def encode(self, texts: Sequence[str], source: str = "") -> Vectors:
        """Encode texts in `source` as (n, d) unit vectors, leaving out tags and placeholders."""
        return self.encoder.encode([without_tags(text) for text in texts], language=source)

    def detect(self, text: str, *, kind: Kind = "sentence") -> str | None:
        """Identify the language of a text among those of the encoder; None if it is not clear."""
        return clear_language(self.language_chances([text], kind)[0])

    def language_chances(self, texts: Sequence[str], kind: Kind = "sentence") -> list[dict[str, float]]:
        """The probability that each text is in each language of the encoder, highest first.

        Empty for a text without letters.
        """
        if self._detector is None:
            return [{} for _ in texts]
        tokens = self.encoder.tokens([fold(text) if kind == "word" else text for text in texts])
        return [
            self._detector.chances(row, fasttext_chances(text)) if has_letters(text) else {}
            for text, row in zip(texts, tokens, strict=True)
        ]

    def pictograms_of(self, texts: Sequence[tuple[Kind, str, str]]) -> list[list[Pictogram]]:
        """Find the pictograms nearest to each (kind, language, text); none if the bundle has none."""
        if self.pictograms is None or not texts:
            return [[] for _ in texts]
        vectors = np.empty((len(texts), self.encoder.dimension), np.float32)
        for kind, source in {text[:2] for text in texts}:
            places = [place for place, text in enumerate(texts) if text[:2] == (kind, source)]
            own = [texts[place][2] for place in places]
            if kind == "word":
                vectors[places] = self.encoder.word_vectors(list(map(fold, own)), source)
            else:
                vectors[places] = self.encode(own, source)
        return [
            [Pictogram(emoji=emoji, cosine=round(cosine, DIGITS)) for emoji, cosine in row]
            for row in self.pictograms.nearest(vectors)
        ]

    def _asked(self, texts: Iterable[tuple[str, str]], stage: Stage) -> dict[str, Asked]:
        """Tokenise and encode cleaned texts, as (source, text); the questions of each language."""
        by_source: dict[str, list[str]] = {}
        for source, text in texts:
            by_source.setdefault(source, []).append(text)
        every = [
            without_courtesies(self.word_indexes[code].respelled(without_tags(text)), code)
            for code, rows in by_source.items()
            for text in rows
        ]
        codes = [code for code, rows in by_source.items() for _ in rows]
        read = [self._as_read(text, code) for text, code in zip(every, codes, strict=True)]
        with stage("tokenise"):
            tokens = Tokens.of(self.encoder.tokenizer.encode(read))
        with stage("encode"):
            vectors = self.encoder.encode_tokens(tokens)
        asked, begin = {}, 0
        for code, rows in by_source.items():
            end = begin + len(rows)
            own = tokens.take(np.arange(begin, end)).without(self.encoder.tokenizer.special)
            of_texts = self.encoder.as_taught(code, read[begin:end], vectors[begin:end])
            words = [words_of(text, code)[:WORDS_READ] for text in read[begin:end]]
            asked[code] = Asked(code, rows, every[begin:end], of_texts, own, words)
            begin = end
        return asked

    def _as_read(self, text: str, code: str) -> str:
        return self._corpus_words[code].read(text) if code in self._corpus_words else text

    def _sentences(
        self, asked: Asked, target: str, counts: Sequence[int], *, memory_alone: bool = False
    ) -> list[Answers]:
        """Answer questions, each with up to `counts` of the sentences in `target`.

        A language that was taught has none without a corpus. Those that the corpus has in the language of the
        questions, too, are found through that, as are all in a language that the encoder does not know; and
        with `memory_alone` only if nearly the same text was translated.
        """
        if target not in self.sentence_indexes:
            return [()] * len(counts)
        index, source = self.sentence_indexes[target], asked.language
        considered = [0 if memory_alone else max(count, ANSWERS_CONSIDERED) for count in counts]
        table = self._candidates(asked, index, considered)
        recalled = self._recalled(asked, index, max(1, *counts), memory_alone)
        table = self._with_memory(table, recalled, asked, index)
        words = WordPairs(
            asked,
            self.word_indexes[source],
            self.word_indexes[target],
            table["question"],
            index.features.words_of(table["row"]),
        )
        add_evidence(
            table,
            asked,
            index.features,
            words,
            self.confidence.lengths,
            (source, target),
            self._token_scores,
            index.best_from(source),
        )
        similarity = table["similarity"]
        remembered = similarity > 0
        chances = self.confidence.of_sentences(table.columns)
        table.columns["confidence"] = np.where(remembered, similarity, chances)
        table.columns["place"] = np.arange(len(table))
        contrasts = self._contrasts(table, asked, index, recalled)
        # What is exact comes first; what says something else only where nothing better is at least near.
        limit_at(table["confidence"], contrasts, self.confidence.opposite)
        other = (table["contradicts"] & ~remembered) | (table["confidence"] < self.confidence.near)
        other[list(contrasts)] = True
        inexact = table.columns["inexact"] = similarity < 1
        by_chance = -similarity, -table["confidence"]
        table = table.take(np.lexsort((*by_chance, other, inexact, table["question"])), NAMES)
        table = table if memory_alone else limited(table, counts)
        by_chance = -table["similarity"], -table["confidence"]
        table = table.take(np.lexsort((*by_chance, table["inexact"], table["question"])))
        said = self._glosses(table, index, source)
        return self._answers(table, asked, index, recalled, words, contrasts, said)

    def _candidates(self, asked: Asked, index: SentenceIndex, considered: Sequence[int]) -> Candidates:
        """The sentences nearest to questions, `considered[i]` of question i, but those found through memory.

        What is said in a language without sentences is looked for in all that the corpus aligns.
        """
        source, most = asked.language, max(considered)
        memory = self.sentence_indexes.get(source)
        aligned = [] if memory else self._aligned_with(index)
        searched, *others = aligned or [index]
        cosines, rows = searched.vectors.search(asked.vectors, max(CANDIDATE_COUNT, most))
        most = max(most, SUPPORTED_CONSIDERED) if aligned else most
        table = ranked(cosines, rows, searched.means_from(source)[rows], rows.shape[1] if memory else most)
        if aligned:
            table = translated(supported(table, asked.vectors, searched, others), searched, index)
        if memory:
            unread = index.language not in self._sources
            table = table.take(~(unread | index.said_in(memory)[table["row"]]))
        return limited(table, considered)

    def _aligned_with(self, index: SentenceIndex) -> list[SentenceIndex]:
        """The languages that the encoder knows and the corpus aligns with one: first itself, or the most."""
        if (code := index.language) not in self._aligned:
            known = [one for own, one in self.sentence_indexes.items() if own in self._sources]
            shared = {one: index.groups.shared(one.groups) for one in known if index.groups and one.groups}
            found = sorted(filter(shared.get, shared), key=lambda one: (one is not index, -shared[one]))
            self._aligned[code] = found if found != [index] else []
        return self._aligned[code]

    def _contrasts(
        self, table: Candidates, asked: Asked, index: SentenceIndex, recalled: Recalled
    ) -> dict[int, Sequence[Contrast]]:
        """What candidates that are at least near say otherwise than their questions, by place, if anything.

        Where the corpus says in the language of the question what a candidate says, that was compared; else
        what it says itself is, and the sentence of that language that it suits better, if there is one.
        """
        contrasts: dict[int, Sequence[Contrast]] = {}
        questions, rows = table["question"].tolist(), table["row"].tolist()
        words = self.word_indexes[asked.language]
        differences = table.columns.get("length_difference", np.zeros(len(table)))
        suits_another = []
        for place in np.flatnonzero(table["confidence"] >= self.confidence.near).tolist():
            question, row = questions[place], rows[place]
            if memory := recalled.get((question, row)):
                contrasts[place] = memory.contrasts
            elif differences[place] > MOST_LENGTH_DIFFERENCE:
                contrasts[place] = (Contrast(ADDED),)
            else:
                contrasts[place] = contrasting(asked, question, *self._understood(index, row), words)
                likely = table["confidence"][place] >= MIN_CONFIDENCE  # what is searched for takes long
                if likely and not contrasts[place] and table["shortfall"][place] < -SUITS_BETTER:
                    suits_another.append(place)
        nearest = self._nearest_texts(index, [rows[place] for place in suits_another], asked.language)
        for place, text in zip(suits_another, nearest, strict=False):
            contrasts[place] = contrasting(asked, questions[place], text, asked.language, words)
        return {place: found for place, found in contrasts.items() if found}

    def _nearest_texts(self, index: SentenceIndex, rows: Sequence[int], source: str) -> list[str]:
        """The sentence in `source` nearest to each of some rows of another language; [] if there are none."""
        own = self.sentence_indexes.get(source)
        if own is None or not rows:
            return []
        _, found = own.vectors.search(index.vectors.reconstruct(rows), 1)
        return list(map(own.text, found[:, 0].tolist()))

    def _understood(self, index: SentenceIndex, row: int) -> tuple[str, str]:
        """A sentence and its language; of one that the encoder does not know, an aligned sentence."""
        aligned = [index] if index.language in self._sources else self._aligned_with(index)
        found = ((index.translations(row, one), one) for one in aligned)
        return next(((one.text(rows[0]), one.language) for rows, one in found if rows), ("", index.language))

    def _recalled(self, asked: Asked, index: SentenceIndex, most: int, memory_alone: bool) -> Recalled:
        """Sentences of its own language that may say what a question says, by what translates them."""
        memory, language = self.sentence_indexes.get(asked.language), asked.language
        if (
            memory is None
            or not asked.texts
            or (memory is not index and None in (memory.groups, index.groups))
        ):
            return {}
        words = self.word_indexes[language]
        cosines, rows = memory.vectors.search(asked.vectors, MEMORY_CANDIDATES)
        table = ranked(cosines, rows, memory.means_from(language)[rows], MEMORY_CANDIDATES)
        pairs = WordPairs(asked, words, words, table["question"], memory.features.words_of(table["row"]))
        add_evidence(table, asked, memory.features, pairs, self.confidence.lengths, (language, language))
        table.columns["chance"] = self.confidence.of_paraphrases(table.columns)
        recalled: Recalled = {}
        found = remember(memory, index, asked, table, words, most, alike_alone=memory_alone)
        for question, remembered in enumerate(found):
            for one in remembered:
                for row in one.translations:
                    recalled.setdefault((question, row), one)
        return recalled

    def _with_memory(
        self, table: Candidates, recalled: Recalled, asked: Asked, index: SentenceIndex
    ) -> Candidates:
        """Add what the corpus translates as candidates, and the column `similarity`, 0 for others."""
        table.columns["similarity"] = np.zeros(len(table))
        if not recalled:
            return table
        questions, rows = np.array(list(recalled), np.int64).T
        strengths = np.array([memory.strength for memory in recalled.values()])
        added = {"question": questions, "row": rows, "similarity": strengths}
        return with_rows(table, added, asked.vectors, index.vectors, index.means_from(asked.language))

    def _answers(
        self,
        table: Candidates,
        asked: Asked,
        index: SentenceIndex,
        recalled: Recalled,
        words: WordPairs,
        contrasts: Mapping[int, Sequence[Contrast]],
        glosses: Mapping[int, str],
    ) -> list[Answers]:
        """Make answers of a table in its order; `contrasts` by place before it was ordered."""
        rows = table["row"].tolist()
        texts = [index.text(row) for row in rows]
        if rows and index.language in self._sources:
            differs = words.differences(table["place"], index.vectors.reconstruct(rows), texts)
        else:
            differs = [NO_DIFFERENCES] * len(rows)
        memory = self.sentence_indexes.get(asked.language)
        own = memory is index  # sentences that mean the same are no translations
        answers: list[list[Answer]] = [[] for _ in range(table.count)]
        columns = zip(*(table[name].tolist() for name in NAMES), strict=True)
        for place, columns_of in enumerate(columns):
            question, row, score, chance, contradicts, before, *_ = columns_of
            text, original, likeness = texts[place], None, None
            penalties: tuple[str, ...] = ("numbers",) if contradicts else ()
            found = recalled.get((question, row))
            if found is not None and memory is not None:
                if not own:
                    original = Original(text=memory.text(found.original), id=memory.id(found.original))
                    text = put_back(asked.texts[question], original.text, text)
                if found.likeness and "numbers" in found.likeness.penalties and text == texts[place]:
                    chance = min(chance, self.confidence.opposite)  # its numbers are not the question's
                likeness = found.likeness
                penalties = likeness.penalties if likeness else ()
            answers[question].append(
                Answer(
                    text=text,
                    score=round(score, DIGITS),
                    confidence=round(chance, DIGITS),
                    id=index.id(row),
                    match=self.confidence.match_of(
                        chance, likeness.similarity if likeness else None, own=own or original is not None
                    ),
                    similarity=round(likeness.similarity, DIGITS) if likeness else None,
                    original=original,
                    gloss=original.text if original else glosses.get(place),
                    # What the corpus says for this text, or one that means the same, was compared with that.
                    differs=with_contrasts(
                        NO_DIFFERENCES if (own or original) and chance >= MIN_CONFIDENCE else differs[place],
                        contrasts.get(before, ()),
                        asked.bare[question],
                        text,
                        index.language,
                    ),
                    penalties=penalties,
                    metadata=index.metadata(row),
                )
            )
        return list(map(tuple, answers))

    def _glosses(self, table: Candidates, index: SentenceIndex, source: str) -> dict[int, str]:
        """The sentences in `source` that likely say what answers say, of those that may be shown, by place.

        What the corpus has for them is known.
        """
        rows, plain = table["row"], self.confidence.sentence[-1]
        if plain.weights.keys() != {"score"}:
            return {}
        likely = plain.probability({"score": index.best_from(source)[rows]}) >= MIN_CONFIDENCE
        shown = (table["confidence"] >= self.confidence.near) & (table["similarity"] == 0)
        places = np.flatnonzero(likely & shown).tolist()
        return dict(zip(places, self._nearest_texts(index, rows[places].tolist(), source), strict=False))

    def _translated_words(
        self, words: Sequence[str], source: str, target: str, counts: Sequence[int]
    ) -> list[Answers]:
        """Answer words, each with up to `counts` of the words in `target`, if the encoder knows it."""
        if target not in self._sources:
            return [()] * len(words)
        asked, index = (self._taught.get(code) or self.word_indexes[code] for code in (source, target))
        folded = [asked.respelled(fold(word)) for word in words]
        rows = asked.rows_of(folded)
        if self.pictograms is not None and self._pictured & {source, target}:
            table = pictured_candidates(folded, asked, index, self.pictograms.vectors, max(counts))
        else:
            table = word_candidates(folded, rows, asked, index, max(counts))
            table.columns["confidence"] = self.confidence.of_words(table.columns)
        chances = table["confidence"]
        unlikely = []
        for place, row in enumerate(table["row"].tolist()):
            word = folded[table["question"][place]]
            several = " " in word and word not in asked  # "New York" is not "York"
            if chances[place] >= MIN_CONFIDENCE and (
                several or contrasts(word, source, index.text(row), target, meanings=asked.meanings)
            ):
                unlikely.append(place)
        limit_at(chances, unlikely, self.confidence.opposite)
        table = limited(table.take(np.lexsort((-table["confidence"], table["question"]))), counts)
        answers: list[list[Answer]] = [[] for _ in words]
        names = "question", "row", "csls", "confidence"
        for question, row, score, chance in zip(*(table[name].tolist() for name in names), strict=True):
            form, examples = self._written(index.text(row), target)
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

    def _written(self, word: str, language: str) -> tuple[str, tuple[str, ...]]:
        """A word as the corpus writes it, and sentences that use it, if there is a corpus."""
        sentences, rows = self.sentence_indexes.get(language), self.word_indexes[language].rows_of([word])
        return written(sentences, word, int(rows[0])) if sentences else (word, ())

    def _check(self, source: str, target: str, *, own: bool = False) -> None:
        """Raise RequestError for a pair that cannot be asked; `own`: whether one language can."""
        named = ("source", source), ("target", target)
        if faults := [self.known.unknown(*pair) for pair in named if self.known.find(pair[1]) != pair[1]]:
            raise UnknownLanguageError(faults[0].message, faults)
        self.known.check_reachable("text", source, [target], own=own)

    def _info(self, code: str) -> LanguageInfo:
        entry, is_source = self.manifest.languages.get(code), code in self._sources
        known = {**self.sentence_indexes, **self._taught}
        targets = tuple(other for other in known if other != code and is_source)
        measured = self.manifest.quality
        return LanguageInfo(
            code=code,
            name=language(code).name,
            targets=targets,
            sentences=entry.sentences if entry else 0,
            words=entry.words if entry else len(self._taught.get(code, ())),
            quality={to: measured[f"{code}-{to}"] for to in targets if f"{code}-{to}" in measured},
            is_source=is_source,
        )


def _blocks(k: int, count: int) -> Iterable[tuple[int, int]]:
    """Begin and end of blocks of `count` questions with k answers each that are answered at once."""
    size = max(1, ROWS_AT_ONCE // max(k, ANSWERS_CONSIDERED))
    return ((begin, min(begin + size, count)) for begin in range(0, count, size))
