"""Translator: an opened index with its encoder. What the service and `passepartout translate` use."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Literal

import numpy as np

from index.confidence.domain import Domain
from index.encoder.bundle import open_index_encoder
from index.encoder.pictograms import Pictograms
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.errors import UnknownLanguageError, listed
from index.search.consistency import consistent, own_translations
from index.search.differences import differences
from index.search.explanation import Explanation, explain
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
from index.text.languages import language
from index.text.placeables import without_tags

__all__ = ["Explanation", "Kind", "LanguageInfo", "Match", "Translator"]

Kind = Literal["sentence", "word"]


@dataclass(frozen=True)
class LanguageInfo:
    """A language that can be translated from; into it too, where it has sentences."""

    code: str
    name: str
    sentences: int
    words: int
    targets: tuple[str, ...]


class Translator:
    """One version of an index, read-only and safe to share between threads.

    Searching and encoding run in the calling thread, in at most `threads` threads a call.
    """

    def __init__(
        self,
        manifest: IndexManifest,
        encoder: TextEncoder,
        sentences: dict[str, SentenceIndex],
        words: dict[str, WordIndex],
        spaces: Mapping[str, WordVectors],
        detector: Detector,
    ) -> None:
        self.manifest = manifest
        self.encoder = encoder
        self._sentences, self._words, self._detector = sentences, words, detector
        self._forms: dict[str, WordForms] = {}
        # Any language of the encoder can be a source: its sentences are encoded, not looked up.
        extra = [code for code in encoder.bundle.manifest.languages if code not in sentences]
        self.languages = tuple(self._info(code) for code in (*sentences, *extra))
        self._sources = {info.code for info in self.languages}
        self._word_spaces = {
            code: spaces.get(code) or WordVectors(code, words.get(code), encoder) for code in self._sources
        }

    @classmethod
    def open(cls, index: Path, *, version: str | None = None, threads: int = 1) -> "Translator":
        """Verify and open a version of an index (the current one without `version`).

        Raises BundleError where there is no index or no such version, FormatError, DamagedError.
        """
        folder, manifest = open_version(index, version)
        bundle = open_index_encoder(folder, manifest)
        encoder = TextEncoder(bundle, threads=threads)
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
        return cls(manifest, encoder, sentences, words, spaces, detector)

    @property
    def model(self) -> str:
        """The encoder's name and version, such as `small@1`."""
        return self.encoder.name

    @cached_property
    def pictograms(self) -> Pictograms | None:
        """The pictograms that the encoder learned from, where its bundle has them."""
        return Pictograms.open(self.encoder.bundle)

    @property
    def version(self) -> str:
        """The ID of the version of the index, such as `20261120-1`."""
        return self.manifest.version

    @property
    def calibrated(self) -> bool:
        """Whether sentence confidences were fitted for this index or its encoder, or come from a fallback."""
        return self.manifest.calibrated

    @cached_property
    def nearness(self) -> dict[str, dict[str, float]]:
        """For each language with sentences and each other: the mean cosine to the ten nearest there."""
        return {
            code: {source: float(index.means_from(source).mean()) for source in self.manifest.sources(code)}
            for code, index in self._sentences.items()
        }

    def encode(self, texts: Sequence[str], source: str = "") -> Vectors:
        """Texts in `source` -> (n, d) unit vectors, for `sentences(vectors=...)` into several targets.

        Tags and placeholders are not encoded.
        """
        return self.encoder.encode([without_tags(text) for text in texts], language=source)

    def sentences(
        self, texts: Sequence[str], source: str, target: str, k: int = 1, *, vectors: Vectors | None = None
    ) -> list[list[Match]]:
        """For each text in `source` the k sentences of `target` that say the same, best first.

        Where the index has translations of a text, or of nearly that text, they come first and `match`
        says so (translation_memory.py). `vectors` (n, d), where the texts were encoded already.
        Raises UnknownLanguageError.
        """
        vectors = self.encode(texts, source) if vectors is None else vectors
        return self.begin(texts, vectors, source, target, k)()

    def begin(
        self, texts: Sequence[str], vectors: Vectors, source: str, target: str, k: int
    ) -> Callable[[], list[list[Match]]]:
        """The long part of `sentences`, which hardly needs Python's lock; what it gives does the rest."""
        index = self._sentences[self._pair(source, target)]
        finish = index.begin(vectors, source, k, texts)
        memory = self._sentences.get(source)
        if memory is None or memory.groups is None or index.groups is None:
            return finish
        answers = recall(memory, index, texts, vectors, source, finish(), k)  # which searches, too
        return lambda: answers

    def remember(self, texts: Sequence[str], source: str, target: str) -> list[list[Match]]:
        """For each text in `source` what the index itself translates so, or nearly; [] for none.

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
        """The answers to each text, with the words by which they differ from it; `vectors` (n, d) are its
        texts', encoded. Those that are exact do not differ."""
        index = self._sentences[self._pair(source, target)]
        places = [
            (text, place)
            for text, row in enumerate(answers)
            for place, match in enumerate(row)
            if match.match != "exact"
        ]
        compared = [list(row) for row in answers]
        if not places:
            return compared
        matches = [answers[text][place] for text, place in places]
        found = index.vectors.reconstruct([match.row for match in matches])
        source_words, target_words = self._word_spaces[source], self._word_spaces[target]
        asked = source_words.sentences(texts, vectors)
        answered = target_words.sentences([match.text for match in matches], found)
        there, back = target_words.turned(vectors), source_words.turned(found)
        for number, (text, place) in enumerate(places):
            differs = differences(asked[text], answered[number], back[number], there[text])
            compared[text][place] = replace(matches[number], differs=differs)
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
        """As `sentences`, asked in other languages as well (consistency.py): with the translations `given`,
        language -> one a text, or with those that this index has in third languages.

        Ordered by the mean of the scores over the languages. Raises UnknownLanguageError.
        """
        self._pair(source, target)
        questions = {source: self.encode(texts, source)}
        if given is None:
            questions = own_translations(self._sentences, questions[source], source, target)
        for code, translations in (given or {}).items():
            questions.setdefault(code, self.encode(translations, code))
        return consistent(self._sentences, questions, source, target, k)

    def words(self, words: Sequence[str], source: str, target: str, k: int = 1) -> list[list[Match]]:
        """For each word in `source` the k words of `target` of the same meaning, best first.

        `in_vocabulary` says whether the word asked for is one that the index knows; another is answered by
        its subwords. Raises UnknownLanguageError.
        """
        index = self._words[self._pair(source, target)]
        known = self._words.get(source)
        frequency = (lambda word: float("nan")) if known is None else known.frequency
        frequencies = np.array([frequency(fold(word)) for word in words])
        own = self._own_vectors(words, source)
        forms = self._word_forms(target)
        questions = Questions(own, frequencies, self.encoder.word_vectors, frequency)
        answers = index.search(self._word_vectors(words, source), source, k, questions)
        return [
            [
                replace(
                    match,
                    text=forms.form(match.text),
                    examples=forms.examples(match.text),
                    in_vocabulary=known is not None and word in known,
                )
                for match in matches
            ]
            for word, matches in zip(words, answers, strict=True)
        ]

    def _word_forms(self, code: str) -> WordForms:
        """How a language's words are written; read at the first word asked for, since sentences need none."""
        forms = self._forms.get(code)
        if forms is None:
            vocabulary = {word for word, _ in self._words[code].vocabulary()}
            forms = self._forms[code] = WordForms(self._sentences[code], vocabulary)
        return forms

    def vocabulary(self, language: str) -> list[tuple[str, int]]:
        """The words of a language and how often they occur, most frequent first; none for a source alone."""
        index = self._words.get(language)
        return [] if index is None else index.vocabulary()

    def explain(
        self, kind: Kind, text: str, source: str, answers: Mapping[str, Sequence[str]]
    ) -> dict[str, list[Explanation]]:
        """Why each of the answers, target -> IDs, answers a text in `source` (explanation.py).

        Raises UnknownLanguageError, ValueError for an ID that is not there.
        """
        for target in answers:
            self._pair(source, target)
        if kind == "word":
            return explain(self._words, self._word_vectors([text], source), source, answers)
        return explain(self._sentences, self.encode([text], source), source, answers)

    def detect(self, text: str, *, kind: Kind = "sentence") -> str | None:
        """The language of a text, among those of the encoder; None where it is not clear."""
        return clear_language(self.language_chances(text, kind=kind))

    def language_chances(self, text: str, *, kind: Kind = "sentence") -> dict[str, float]:
        """The probability of each language of the encoder for a text, the likeliest first; none without
        letters."""
        if not has_letters(text):
            return {}
        return self._detector.chances(self._tokens(text, kind), fasttext_chances(text))

    def token_chances(self, text: str, *, kind: Kind = "sentence") -> dict[str, float]:
        """`language_chances` by the tokens of the text alone, without fastText."""
        return self._detector.chances(self._tokens(text, kind))

    def _tokens(self, text: str, kind: Kind) -> Sequence[int]:
        return self.encoder.tokens([fold(text) if kind == "word" else text])[0]

    def _own_vectors(self, words: Sequence[str], source: str) -> Vectors:
        return self.encoder.word_vectors([fold(word) for word in words], source)

    def _word_vectors(self, words: Sequence[str], source: str) -> Vectors:
        """(n, d) unit vectors in the space that the words of all share; by the encoder for unknown words."""
        vectors = self._own_vectors(words, source)
        index = self._words.get(source)
        if index is None:
            return vectors
        vectors = vectors @ index.rotation
        for row, word in enumerate(words):
            if (known := index.known(word)) is not None:
                vectors[row] = known
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
