"""Rounds of mining: before some epochs pairs are mined with the encoder as it is (Kádár et al. 2019, 2.2).

The next epochs train on them.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from tokenizers import Tokenizer

from index.arrays import Numbers, Vectors, unit
from index.errors import DamagedError
from index.text.normalisation import words
from training.data.pairs import PseudopairSupplier, read_pairs
from training.data.tokens import TokenIds, tokenize
from training.mining.contexts import Contexts, translations
from training.mining.mutual import mine
from training.mining.probable_pairs import (
    Sentences,
    halves_to_join,
    joined,
    probable_pairs,
    with_words,
)
from training.mining.words import FOLDS, Vocabulary, align, stem
from training.recipes.settings import MiningSettings

NEIGHBOURS = 10  # the k of CSLS
ARTIFICIAL = 0.3  # of a language's sentences: how many are made up to learn probabilities by
LEAST_SENTENCES = 50  # of a text in a language, to be mined for probable pairs
PIVOT_DRAW = 4  # times as many sentences of a pivot: those that are not drawn are nobody's translation
ENOUGH_PAIRED = 0.5  # of a language's sentences in a text: no further pivot is asked for their partners
LEAST_IN_CONTEXT = 5000  # sentences of a language: with fewer, vectors say more (docs/research.md, Croatian)
LEAST_LIKELY_WORD = 0.03  # a translation that a word is paired with; chosen on dev
LANGUAGES_AT_A_TIME = max(1, (os.cpu_count() or 1) // 4)  # each searches with threads of its own

Mined = tuple[dict[tuple[str, str], Numbers], dict[tuple[str, str], Vectors]]  # pairs, and their weights
Embed = Callable[[Sequence[TokenIds]], Vectors]  # the encoder as it is


@dataclass
class Rounds:
    """The rounds of a run, whose pairs `pairs` supplies.

    lines: language -> its sentences, as text. file: the epoch that a round begins with -> where its pairs are
    kept, so that a resumed run has the same.
    """

    settings: MiningSettings
    pairs: PseudopairSupplier
    lines: Mapping[str, Sequence[str]]
    tokenizer: Tokenizer
    file: Callable[[int], Path]
    _words: dict[str, "Words"] = field(default_factory=dict)
    _supplied: int | None = None  # the epoch that began with the round whose pairs are supplied

    def before(self, epoch: int, embed: Embed) -> dict[str, int]:
        """Supply the pairs that `epoch` trains on, mined where a round begins with it.

        Returns the number of pairs per "language-language" when a round begins, else {}. DamagedError when
        the file of the round that goes on is missing.
        """
        begun = last_round(epoch, self.settings)
        if begun is None or begun == self._supplied:
            return {}
        file = self.file(begun)
        if self.settings.counts_words(begun) and not self._words:
            mined = self.settings.mined_with(self.settings.pivots[0], self.pairs.tokens)
            pivots = [pivot for pivot in self.settings.pivots if pivot in self.lines]
            codes = dict.fromkeys([*mined, *pivots])
            self._words = {code: Words.of(code, self.lines[code]) for code in codes}
            named = {code: tokenize(self.tokenizer, known.words.names) for code, known in self._words.items()}
            self.pairs.add_words(named, {code: known.words.rows for code, known in self._words.items()})
        if file.is_file():
            self.pairs.pair(*read_pairs(file))
        elif begun == epoch:
            self.pairs.pair(*Round(self.pairs, epoch, embed, self.settings, self._words).mined())
            self.pairs.write(file)
        else:
            raise DamagedError(f"{file} is missing; train again into another folder")
        self._supplied = begun
        counts = {
            f"{first}-{second}": len(rows) for (first, second), rows in sorted(self.pairs.pairs.items())
        }
        return counts if begun == epoch else {}


@dataclass(frozen=True)
class Words:
    """The words of a language's sentences, and their stems.

    stem_of: (words,) the stem of each word; the number of stems where it is none of the most frequent.
    """

    words: Vocabulary
    stems: Vocabulary
    stem_of: Numbers

    @classmethod
    def of(cls, language: str, lines: Sequence[str]) -> "Words":
        """List the words of sentences."""
        spelled = [words(line, language) for line in lines]
        listed = Vocabulary.of(spelled)
        stems = Vocabulary.of([[stem(word, language) for word in sentence] for sentence in spelled])
        number = {name: place for place, name in enumerate(stems.names)}
        stem_of = [number.get(stem(word, language), len(number)) for word in listed.names]
        return cls(listed, stems, np.asarray(stem_of, np.int64))

    def by_stems(self, table: csr_array) -> csr_array:
        """(words, m) the rows (stems, m) of the stems of words; zeros for a word whose stem is rare."""
        known = np.flatnonzero(self.stem_of < len(self.stems.names))
        shape = len(self.stem_of), len(self.stems.names)
        return csr_array((np.ones(len(known)), (known, self.stem_of[known])), shape=shape) @ table


def last_round(epoch: int, settings: MiningSettings) -> int | None:
    """The epoch that began with the mining round whose pairs `epoch` trains on, if there is one."""
    return None if epoch < settings.begin else epoch - (epoch - settings.begin) % settings.every


def round_span(epoch: int, epochs: int, settings: MiningSettings | None) -> tuple[int, int]:
    """First epoch and end of those around `epoch`, from one round of mining (or the start) to the next."""
    if settings is None:
        return 0, epochs
    round_epoch = last_round(epoch, settings)
    start, stop = (0, settings.begin) if round_epoch is None else (round_epoch, round_epoch + settings.every)
    return start, min(stop, epochs)


@dataclass(frozen=True)
class Round:
    """One round of mining: for probable pairs, or for a share of all that are each other's nearest."""

    source: PseudopairSupplier
    epoch: int
    embed: Embed
    settings: MiningSettings
    words: Mapping[str, Words]  # {} if they don't count

    def mined(self) -> Mined:
        """Pairs of each two languages, and the weights of probable ones; others are all alike."""
        return self._probable() if self.settings.probability else (self._mutual(), {})

    def _mutual(self) -> dict[tuple[str, str], Numbers]:
        """The mutually nearest sentences with the highest CSLS, of all texts and languages."""
        tokens, settings, seed = self.source.tokens, self.settings, self.source.seed
        drawn = {
            code: sample(len(rows), settings.sentences, [seed, self.epoch, *code.encode()])
            for code, rows in tokens.items()
        }
        vectors = {code: self.embed([tokens[code][i] for i in rows]) for code, rows in drawn.items()}
        found = mine(vectors, keep=settings.keep, neighbours=NEIGHBOURS, seed=seed)
        return {
            (first, second): np.stack([drawn[first][rows[:, 0]], drawn[second][rows[:, 1]]], axis=1)
            for (first, second), rows in found.items()
        }

    def _probable(self) -> Mined:
        """Probable translations within each text, and how much each weighs: its probability."""
        parts: dict[tuple[str, str], list[tuple[Numbers, Vectors]]] = {}
        for rows in self.source.rows.values():
            for languages, pairs, probabilities in self._in_text(rows):
                parts.setdefault(languages, []).append((pairs, probabilities))
        if self.words:
            for key, found in parts.items():
                found.append(self._of_words(key, *_concatenated(found)))
        if self.settings.counts_contexts(self.epoch):
            for key, of_words in self._by_contexts().items():
                parts.setdefault(key, []).append(of_words)
        mined = {key: _concatenated(found) for key, found in parts.items()}
        return {key: pairs for key, (pairs, _) in mined.items()}, {key: p for key, (_, p) in mined.items()}

    def _in_text(self, rows: Mapping[str, range]) -> Iterator[tuple[tuple[str, str], Numbers, Vectors]]:
        """The pairs of each language of a text with the pivots, and their probabilities.

        rows: of the text. A pivot is asked for what those before it have paired less than ENOUGH_PAIRED of;
        the first one's sentences are all compared where the text lacks it.
        """
        first = self.settings.pivots[0]
        paired = {code: np.empty(0, np.int64) for code in sorted(rows) if len(rows[code]) >= LEAST_SENTENCES}
        asked = [pivot for pivot in self.settings.pivots if pivot in rows] if first in rows else [first]
        for pivot in asked:
            others = [
                code
                for code in self.settings.mined_with(pivot, paired)
                if len(paired[code]) < ENOUGH_PAIRED * min(len(rows[code]), self.settings.sentences)
            ]
            for code, found in self._with_pivot(others, rows, pivot):
                paired[code] = np.union1d(paired[code], found[0][:, 0])
                yield (code, pivot), *found

    def _with_pivot(
        self, others: Sequence[str], rows: Mapping[str, range], pivot: str
    ) -> Iterator[tuple[str, tuple[Numbers, Vectors]]]:
        """The pairs of each of some languages of a text with a pivot."""
        if not others:
            return
        probability = self.settings.probability
        assert probability is not None, "the caller chose by it"
        pivot_rows, sentences = self._sentences(pivot, rows.get(pivot), 0)
        pivot_sentences = with_words(sentences)

        def of_language(code: str) -> tuple[Numbers, Vectors]:
            own_rows, own = self._sentences(code, rows[code], ARTIFICIAL)
            pairs, probabilities = probable_pairs(own, pivot_sentences, NEIGHBOURS)
            is_kept = probabilities >= probability
            first, second = pairs[is_kept].T
            return np.stack([own_rows[first], pivot_rows[second]], axis=1), probabilities[is_kept]

        with ThreadPoolExecutor(LANGUAGES_AT_A_TIME) as pool:
            yield from zip(others, pool.map(of_language, others), strict=True)

    def _sentences(self, language: str, rows: range | None, share: float) -> tuple[Numbers, Sentences]:
        """Embed sentences of a language, and artificial ones: `share` of their number, of a pivot none.

        rows: which; all if None. Returns the rows drawn, and the sentences.
        """
        rows = self.source.sentences(language) if rows is None else rows
        seed = [self.source.seed, self.epoch, *language.encode()]
        most = self.settings.sentences * (1 if share else PIVOT_DRAW)
        drawn = rows.start + sample(len(rows), most, seed)
        draw = np.random.default_rng(seed)
        tokens = [self.source.tokens[language][row] for row in drawn]
        lengths = list(map(len, tokens))
        folds = draw.integers(FOLDS, size=len(drawn)) if self.words else np.zeros(len(drawn), np.int64)
        pairs, bags = np.empty((0, 2), np.int64), None
        for fold in range(FOLDS):  # both halves are of one fold
            own = np.flatnonzero(folds == fold)
            pairs = np.concatenate([pairs, own[halves_to_join([lengths[i] for i in own], share, draw)]])
        folds = np.concatenate([folds, folds[pairs[:, 0]]])
        if self.words:
            stems = self.words[language].stems
            numbers = [stems.rows[row] for row in drawn]
            bags = stems.bags([*numbers, *joined(numbers, pairs)])
        tokens += joined(tokens, pairs)
        vectors = self.embed(tokens)
        lengths = list(map(len, tokens))
        return drawn, Sentences(vectors, lengths, len(drawn), self.source.seed, bags, folds)

    def _of_words(
        self, languages: tuple[str, str], pairs: Numbers, probabilities: Vectors
    ) -> tuple[Numbers, Vectors]:
        """Pair words by what paired sentences say of them, each as often as it is probable.

        A word is taken to occur once more than it does, and to mean then what its stem means.
        """
        own, other = (self.words[code] for code in languages)
        weights = probabilities.astype(np.float64)
        of_words, of_stems = (
            align(
                listed.bags([listed.rows[row] for row in pairs[:, 0]]).matrix,
                other.words.bags([other.words.rows[row] for row in pairs[:, 1]]).matrix,
                np.stack([np.arange(len(pairs))] * 2, axis=1),
                weights,
            )
            for listed in (own.words, own.stems)
        )
        counts = of_words.table(of_words.counts) + own.by_stems(of_stems.table(of_stems.forward))
        shares = counts.multiply(1 / (of_words.first_totals + 1)[:, None])
        return self._word_pairs(languages, shares.multiply(shares >= LEAST_LIKELY_WORD))

    def _by_contexts(self) -> dict[tuple[str, str], tuple[Numbers, Vectors]]:
        """Pair words with those of the first pivot by their contexts, frequent ones more often."""
        pivot = self.settings.pivots[0]
        others = [
            code
            for code in self.settings.mined_with(pivot, sorted(self.words))
            if len(self.source.sentences(code)) >= LEAST_IN_CONTEXT
        ]
        named = {code: self._unit_vectors(code) for code in (pivot, *others)}

        def of_language(code: str) -> tuple[Numbers, Vectors]:
            first, second = (self._contexts(side, code, named[side]) for side in (code, pivot))
            stems, weights = translations(first, second)
            own, other = self.words[code], self.words[pivot]
            shape = len(own.stems.names), len(other.words.names)
            return self._word_pairs((code, pivot), own.by_stems(csr_array((weights, stems.T), shape=shape)))

        with ThreadPoolExecutor(LANGUAGES_AT_A_TIME) as pool:
            found = pool.map(of_language, others)
            return {(code, pivot): pairs for code, pairs in zip(others, found, strict=True)}

    def _units(self, language: str) -> tuple[Vocabulary, Numbers]:
        """What is compared of a language, and which of them each word has: stems, of the pivot words."""
        own = self.words[language]
        if language == self.settings.pivots[0]:
            return own.words, np.arange(len(own.words.names))
        return own.stems, own.stem_of

    def _unit_vectors(self, language: str) -> Vectors:
        """(units, d) by themselves: the mean of their words."""
        units, unit_of = self._units(language)
        words = self.words[language].words
        counts = np.bincount(np.concatenate(words.rows), minlength=len(words.names) + 1)[: len(words.names)]
        shape = len(words.names), len(units.names) + 1
        sums = csr_array((counts.astype(np.float32), (np.arange(len(words.names)), unit_of)), shape=shape).T
        first = self.source.sentences(language).stop
        vectors = self.embed(self.source.tokens[language][first : first + len(words.names)])
        return unit(sums @ vectors)[: len(units.names)]

    def _contexts(self, language: str, other: str, vectors: Vectors) -> Contexts:
        """A language's units in sentences of the texts of `other`: as many of each as that has."""
        drawn: list[Numbers] = []
        for name in sorted(self.source.rows):
            of_text = self.source.rows[name]
            if {language, other, self.settings.pivots[0]} <= of_text.keys():
                count = min(self.settings.sentences, len(of_text[other]))
                seed = [self.source.seed, self.epoch, *language.encode()]
                drawn.append(of_text[language].start + sample(len(of_text[language]), count, seed))
        units, _ = self._units(language)
        rows = [units.rows[row] for row in np.concatenate([np.empty(0, np.int64), *drawn])]
        return Contexts.of(units.bags(rows).matrix, vectors)

    def _word_pairs(self, languages: tuple[str, str], table: csr_array) -> tuple[Numbers, Vectors]:
        """What is not 0 of a table (words, other words): rows, and weights.

        Rows are those of words, which come after the sentences of a language.
        """
        table = csr_array(table)
        table.eliminate_zeros()
        found = table.tocoo()
        first_rows = [len(self.source.sentences(code)) for code in languages]
        rows = np.stack([found.row, found.col], axis=1).astype(np.int64)
        return rows + first_rows, found.data.astype(np.float32)


def _concatenated(parts: Sequence[tuple[Numbers, Vectors]]) -> tuple[Numbers, Vectors]:
    pairs, probabilities = zip(*parts, strict=True)
    return np.concatenate(pairs), np.concatenate(probabilities)


def sample(count: int, most: int, seed: Sequence[int]) -> Numbers:
    """`most` of the numbers below `count`, or all of them, drawn at random and sorted."""
    return np.sort(np.random.default_rng(seed).permutation(count)[:most])
