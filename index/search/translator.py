"""Translator: an opened index with its encoder. What the service and `passepartout translate` use."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from index.confidence.domain import Domain
from index.encoder.bundle import open_index_encoder
from index.encoder.pictures import Pictograms
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.errors import UnknownLanguageError, listed
from index.languages import language
from index.search.consistency import consistent, own_translations
from index.search.differences import differences
from index.search.ranking import Match
from index.search.sentence_index import SentenceIndex
from index.search.translation_memory import recall, remember
from index.search.word_forms import WordForms
from index.search.word_index import Questions, WordIndex, fold
from index.search.word_vectors import WordVectors
from index.storage.index_manifest import IndexManifest
from index.storage.tables import read_array
from index.storage.versions import DETECTOR, DOMAIN, open_version
from index.text.fasttext_model import fasttext_chances
from index.text.identification import Detector, clear_language, has_letters
from index.text.placeables import without_tags

__all__ = ["Kind", "LanguageInfo", "Match", "Translator"]

Kind = Literal["sentence", "word"]


@dataclass(frozen=True)
class LanguageInfo:
    """A language to translate from and, if the index has sentences in it, into."""

    code: str
    name: str
    sentences: int
    words: int
    targets: tuple[str, ...]


class Translator:
    """One version of an index, read-only and safe to share between threads.

    Searching and encoding run in the calling thread and use at most `threads` threads for one call.
    """

    def __init__(
        self,
        manifest: IndexManifest,
        encoder: TextEncoder,
        sentences: dict[str, SentenceIndex],
        words: dict[str, WordIndex],
        spaces: Mapping[str, WordVectors],
        detector: Detector,
        pictograms: Pictograms | None,
    ) -> None:
        self.manifest = manifest
        self.encoder = encoder
        self.pictograms = pictograms  # those that the encoder learned from; None if its bundle has none
        self._sentences, self._words, self._detector = sentences, words, detector
        self._forms: dict[str, WordForms] = {}
        # Any language of the encoder can be a source, since questions are encoded and not looked up.
        extra = [code for code in encoder.bundle.manifest.languages if code not in sentences]
        self.languages = tuple(self._info(code) for code in (*sentences, *extra))
        self._sources = {info.code for info in self.languages}
        self._word_spaces = {
            code: spaces.get(code) or WordVectors(code, words.get(code), encoder) for code in self._sources
        }

    @classmethod
    def open(cls, index: Path, *, version: str | None = None, threads: int = 1) -> "Translator":
        """Verify and open a version of an index, by default the current one.

        Its files may be removed or replaced afterwards: each is mapped or read here, none by a later call.
        Raises BundleError if there is no index or no such version, FormatError, DamagedError.
        """
        folder, manifest = open_version(index, version)
        bundle = open_index_encoder(folder, manifest)
        encoder = TextEncoder(bundle, threads=threads)
        encoder.read_word_embeddings()
        table = np.array(read_array(folder / DOMAIN, (encoder.vocabulary,)))  # slow as a memory map
        weights = manifest.confidence.domain
        domain = None if weights is None else Domain(table, weights, partial(_tokens, encoder))
        words = {code: WordIndex.open(folder, code, manifest, threads=threads) for code in manifest.languages}
        spaces = {code: WordVectors(code, index, encoder) for code, index in words.items()}
        calibration = bundle.manifest.calibration
        sentences = {
            code: SentenceIndex.open(
                folder,
                code,
                manifest,
                calibration=calibration,
                domain=domain,
                words=spaces,
                threads=threads,
            )
            for code in manifest.languages
        }
        table = read_array(folder / DETECTOR, (len(manifest.detects), encoder.vocabulary))
        detector = Detector(manifest.detects, table, manifest.languages)
        return cls(manifest, encoder, sentences, words, spaces, detector, Pictograms.open(bundle))

    @property
    def model(self) -> str:
        """The encoder's name and version, such as `small@1`."""
        return self.encoder.name

    @property
    def version(self) -> str:
        """The ID of the index version, such as `20261120-1`."""
        return self.manifest.version

    @property
    def calibrated(self) -> bool:
        """Whether confidences of sentences were fitted for this index or its encoder."""
        return self.manifest.calibrated

    def encode(self, texts: Sequence[str], source: str = "") -> Vectors:
        """Encode texts in `source` as (n, d) unit vectors, leaving out tags and placeholders.

        To translate the same texts into several targets, pass these to `sentences(vectors=...)`.
        """
        return self.encoder.encode([without_tags(text) for text in texts], language=source)

    def sentences(
        self, texts: Sequence[str], source: str, target: str, k: int = 1, *, vectors: Vectors | None = None
    ) -> list[list[Match]]:
        """Find the k sentences in `target` that best translate each text in `source`, best first.

        If the index has translations of a text, or of nearly that text, they come first, and `match` says so
        (translation_memory.py). `vectors` (n, d): the texts as encoded by `encode`, if they were already.
        Raises UnknownLanguageError.
        """
        vectors = self.encode(texts, source) if vectors is None else vectors
        return self.begin(texts, vectors, source, target, k)()

    def begin(
        self, texts: Sequence[str], vectors: Vectors, source: str, target: str, k: int
    ) -> Callable[[], list[list[Match]]]:
        """Do the long part of `sentences`, which hardly holds the GIL; the returned function ends it."""
        index = self._sentences[self._pair(source, target)]
        finish = index.begin(vectors, source, k, texts)
        memory = self._sentences.get(source)
        if memory is None or memory.groups is None or index.groups is None:
            return finish
        answers = recall(memory, index, texts, vectors, source, finish(), k)  # a second search
        return lambda: answers

    def remember(self, texts: Sequence[str], source: str, target: str) -> list[list[Match]]:
        """Look each text in `source` up in the translation memory alone; [] for a text that it does not have.

        Raises UnknownLanguageError.
        """
        index = self._sentences[self._pair(source, target)]
        memory = self._sentences.get(source)
        if memory is None or not texts:
            return [[] for _ in texts]
        return remember(memory, index, texts, self.encode(texts, source), source)

    @property
    def sentence_indexes(self) -> Mapping[str, SentenceIndex]:
        """The sentences of each language that has any."""
        return self._sentences

    def compare(
        self,
        texts: Sequence[str],
        vectors: Vectors,
        source: str,
        target: str,
        answers: Sequence[Sequence[Match]],
    ) -> list[list[Match]]:
        """Add to each answer the words by which it differs from its text; exact answers do not differ.

        `vectors` (n, d): the texts as encoded by `encode`.
        """
        index = self._sentences[self._pair(source, target)]
        inexact = [
            (question, rank)
            for question, matches in enumerate(answers)
            for rank, match in enumerate(matches)
            if match.match != "exact"
        ]
        compared = [list(matches) for matches in answers]
        if not inexact:
            return compared
        matches = [answers[question][rank] for question, rank in inexact]
        answer_vectors = index.vectors.reconstruct([match.row for match in matches])
        source_words, target_words = self._word_spaces[source], self._word_spaces[target]
        question_words = source_words.sentences(texts, vectors)
        answer_words = target_words.sentences([match.text for match in matches], answer_vectors)
        questions_in_target = target_words.to_word_space(vectors)
        answers_in_source = source_words.to_word_space(answer_vectors)
        for number, (question, rank) in enumerate(inexact):
            differs = differences(
                question_words[question],
                answer_words[number],
                answers_in_source[number],
                questions_in_target[question],
            )
            compared[question][rank] = replace(matches[number], differs=differs)
        return compared

    def consistent(
        self,
        texts: Sequence[str],
        source: str,
        target: str,
        k: int = 1,
        *,
        given: Mapping[str, Sequence[str]] | None = None,
    ) -> list[list[Match]]:
        """Translate as `sentences` does, but ask in several languages at once (consistency.py).

        The questions in other languages are `given` (language -> a translation of each text), or else are
        the best translations that this index has in third languages. Answers are ordered by the mean of the
        scores over the languages. Raises UnknownLanguageError.
        """
        self._pair(source, target)
        questions = {source: self.encode(texts, source)}
        if given is None:
            questions = own_translations(self._sentences, questions[source], source, target)
        for code, translations in (given or {}).items():
            questions.setdefault(code, self.encode(translations, code))
        return consistent(self._sentences, questions, source, target, k)

    def words(self, words: Sequence[str], source: str, target: str, k: int = 1) -> list[list[Match]]:
        """Find the k words in `target` that best translate each word in `source`, best first.

        `in_vocabulary` says whether the index has the word that was asked for; a word that it does not have
        is translated by its subwords. Raises UnknownLanguageError.
        """
        index = self._words[self._pair(source, target)]
        source_index = self._words.get(source)
        frequency = (lambda word: float("nan")) if source_index is None else source_index.frequency
        frequencies = np.array([frequency(fold(word)) for word in words])
        forms = self._word_forms(target)
        source_words, target_words = self._word_spaces[source], self._word_spaces[target]
        questions = Questions(
            frequencies,
            frequency,
            lambda rows: target_words.best_scores(target_words.indexed(rows), source_words),
        )
        answers = index.search(self._word_vectors(words, source), source, k, questions)
        return [
            [
                replace(
                    match,
                    text=forms.form(match.text),
                    examples=forms.examples(match.text),
                    in_vocabulary=source_index is not None and word in source_index,
                )
                for match in matches
            ]
            for word, matches in zip(words, answers, strict=True)
        ]

    def _word_forms(self, code: str) -> WordForms:
        """How a language's words are written; collected when the first word is asked for."""
        forms = self._forms.get(code)
        if forms is None:
            vocabulary = {word for word, _ in self._words[code].vocabulary()}
            forms = self._forms[code] = WordForms(self._sentences[code], vocabulary)
        return forms

    def vocabulary(self, language: str) -> list[tuple[str, int]]:
        """The words of a language with their numbers of occurrences, most frequent first.

        Empty for a language that can only be translated from.
        """
        index = self._words.get(language)
        return [] if index is None else index.vocabulary()

    def detect(self, text: str, *, kind: Kind = "sentence") -> str | None:
        """Identify the language of a text among those of the encoder; None if it is not clear."""
        return clear_language(self.language_chances(text, kind=kind))

    def language_chances(self, text: str, *, kind: Kind = "sentence") -> dict[str, float]:
        """The probability that a text is in each language of the encoder, highest first.

        Empty for a text without letters.
        """
        if not has_letters(text):
            return {}
        return self._detector.chances(self._tokens(text, kind), fasttext_chances(text))

    def token_chances(self, text: str, *, kind: Kind = "sentence") -> dict[str, float]:
        """The probabilities of `language_chances` from the tokens of the text alone, without fastText."""
        return self._detector.chances(self._tokens(text, kind))

    def _tokens(self, text: str, kind: Kind) -> Sequence[int]:
        return self.encoder.tokens([fold(text) if kind == "word" else text])[0]

    def _encoded_words(self, words: Sequence[str], source: str) -> Vectors:
        return self.encoder.word_vectors([fold(word) for word in words], source)

    def _word_vectors(self, words: Sequence[str], source: str) -> Vectors:
        """(n, d) unit vectors in the shared word space; from the encoder for words not in the index."""
        vectors = self._encoded_words(words, source)
        index = self._words.get(source)
        if index is None:
            return vectors
        vectors = vectors @ index.rotation
        for row, word in enumerate(words):
            if (indexed := index.vector(word)) is not None:
                vectors[row] = indexed
        return vectors

    def _pair(self, source: str, target: str) -> str:
        if source not in self._sources:
            raise UnknownLanguageError(
                f"no language {source!r} here; there are: {listed(sorted(self._sources))}"
            )
        targets = [code for code in self._sentences if code != source]
        if target not in targets:
            raise UnknownLanguageError(
                f"no translations from {source} to {target!r}; to: {listed(targets) or 'none'}"
            )
        return target

    def _info(self, code: str) -> LanguageInfo:
        entry = self.manifest.languages.get(code)
        return LanguageInfo(
            code=code,
            name=language(code).name,
            sentences=entry.sentences if entry else 0,
            words=entry.words if entry else 0,
            targets=tuple(other for other in self._sentences if other != code),
        )


def _tokens(encoder: TextEncoder, texts: Sequence[str]) -> list[list[int]]:
    return encoder.tokens([without_tags(text) for text in texts])
