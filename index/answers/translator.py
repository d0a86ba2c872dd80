"""Translator: an opened index with its encoder, the one way to translate with both."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import compress
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from index.answers.answer import DIGITS, Answers, LanguageInfo, Pictogram
from index.answers.candidates import ANSWERS_CONSIDERED
from index.answers.corpus_words import CorpusWords
from index.answers.evidence import Questions
from index.answers.languages import Languages
from index.answers.memory import repeats
from index.answers.request import Kind, Query
from index.answers.sentence_features import WORDS_READ
from index.answers.sentence_index import SentenceIndex
from index.answers.sentence_search import SentenceSearch
from index.answers.word_index import WordIndex, fold
from index.answers.word_search import WordSearch
from index.arrays import Vectors
from index.confidence.models import Confidence
from index.encoder.bundle import open_index_encoder
from index.encoder.pictures import Pictograms
from index.encoder.text_encoder import TextEncoder
from index.errors import UnknownLanguageError
from index.languages import language
from index.storage.index_manifest import IndexManifest
from index.storage.tables import read_array
from index.storage.versions import DETECTOR, DOMAIN_FILE, open_version
from index.text.courtesies import without_courtesies
from index.text.identification import Detector, clear_language, fasttext_chances, has_letters
from index.text.normalisation import clean, words_of
from index.text.placeables import without_tags
from index.text.pre_tokens import Tokens

ROWS_AT_ONCE = 1 << 11  # candidates in a table
# Entered for as long as a stage takes.
StageScope = Callable[[Literal["tokenise", "encode", "search"]], AbstractContextManager[object]]


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
        self._detector = detector
        # Any language of the encoder can be a source, since questions are encoded and not looked up. Any that
        # the corpus aligns with these can be a target.
        self._sources = encoder.bundle.manifest.languages
        codes = dict.fromkeys([*sentences, *self._sources])
        self.word_indexes = {code: words.get(code) or WordIndex(code, encoder) for code in codes}
        # Of languages with aligned sentences: others are not compared with a question's own words.
        self._corpus_words = {
            code: CorpusWords(self.word_indexes[code], index.features)
            for code, index in sentences.items()
            if index.groups
        }
        self._taught = {code: WordIndex.taught(code, encoder) for code in encoder.bundle.taught if pictograms}
        self._sentence_search = SentenceSearch(
            sentences,
            self.word_indexes,
            self._sources,
            {*encoder.bundle.taught},
            self.confidence,
            token_scores,
        )
        self._word_search = WordSearch(
            self.word_indexes, self._taught, sentences, self._sources, pictograms, self.confidence
        )
        self.languages = Languages(map(self._info, codes))

    @classmethod
    def open(
        cls, index: Path | str, *, version: str | None = None, threads: int = 1, like: Self | None = None
    ) -> Self:
        """Verify and open a version of an index, by default the current one.

        The encoder is that of `like`, another version, if it is the same. Files may be removed or replaced
        afterwards: each is mapped or read here, none by a later call.
        Raises BundleError if there is no index or no such version, FormatError, DamagedError.
        """
        folder, manifest = open_version(Path(index), version)
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
            np.array(read_array(folder / DOMAIN_FILE, (encoder.vocabulary,))),  # slow as a memory map
        )

    @property
    def model(self) -> str:
        """The encoder's name and version, such as `open@1`."""
        return self.encoder.name

    @property
    def version(self) -> str:
        """The ID of the index version, such as `20261120-1`."""
        return self.manifest.version

    def answer(self, queries: Sequence[Query], stage: StageScope = nullcontext) -> list[Answers]:
        """Answer queries of clean texts, best answers first; texts are encoded once, whatever the targets.

        If the index has translations of a text, or of nearly that text, they come first, and `match` says so
        (memory.py). `stage` is entered for each stage: tokenise, encode, search. Raises RequestError.
        """
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
                        found = self._sentence_search.answers(asked[source].of(wanted), target, counts)
                    else:
                        found = self._word_search.answers(wanted, source, target, counts)
                    for place, row in zip(block, found, strict=True):
                        answers[place] = row
        return answers

    def sentences(self, texts: Sequence[str], source: str, target: str, k: int = 1) -> list[Answers]:
        """Find the k sentences in `target` that best translate each text in `source`, as `answer` does.

        In its own language, those that mean the same.
        """
        return self.answer([Query("sentence", clean(text), source, target, k) for text in texts])

    def words(self, words: Sequence[str], source: str, target: str, k: int = 1) -> list[Answers]:
        """Find the k words in `target` that best translate each word in `source`, as `answer` does.

        `in_vocabulary` says whether the index has the word that was asked for; a word that it does not have
        is translated by its subwords.
        """
        return self.answer([Query("word", clean(word), source, target, k) for word in words])

    def remember(self, texts: Sequence[str], source: str, target: str) -> list[Answers]:
        """Look each text in `source` up in the translation memory alone; () for a text that it does not have.

        Only an exact match may lack a tag, placeholder or number. Raises RequestError.
        """
        self._check(source, target)
        texts = [clean(text) for text in texts]
        asked = self._asked(dict.fromkeys((source, text) for text in texts), nullcontext)
        found: list[Answers] = []
        for begin, end in _blocks(1, len(texts)):
            block = texts[begin:end]
            matches = self._sentence_search.remembered(asked[source].of(block), target)
            for text, answers in zip(block, matches, strict=True):
                kept = (one.match == "exact" or repeats(text, one, (source, target)) for one in answers)
                found.append(tuple(compress(answers, kept)))
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

    def _asked(self, texts: Iterable[tuple[str, str]], stage: StageScope) -> dict[str, Questions]:
        """Tokenise and encode cleaned texts, as (source, text); the questions of each language."""
        by_source: dict[str, list[str]] = {}
        for source, text in texts:
            by_source.setdefault(source, []).append(text)
        asked = {}
        for code, rows in by_source.items():
            spelled = map(self.word_indexes[code].respelled, map(without_tags, rows))
            bare = [without_courtesies(text, code) for text in spelled]
            corpus = self._corpus_words.get(code)
            read = list(map(corpus.read, bare)) if corpus else bare
            with stage("tokenise"):
                tokens = Tokens.of(self.encoder.tokenizer.encode(read))
            with stage("encode"):
                vectors = self.encoder.as_taught(code, read, self.encoder.encode_tokens(tokens))
            words = [words_of(text, code)[:WORDS_READ] for text in read]
            own = tokens.without(self.encoder.tokenizer.special)
            asked[code] = Questions(code, rows, bare, vectors, own, words)
        return asked

    def _check(self, source: str, target: str, *, own: bool = False) -> None:
        """Raise RequestError for a pair that cannot be asked; `own`: whether one language can."""
        languages, named = self.languages, (("source", source), ("target", target))
        if faults := [languages.unknown(*pair) for pair in named if languages.find(pair[1]) != pair[1]]:
            raise UnknownLanguageError(faults[0].message, faults)
        languages.check_reachable("text", source, {target: target}, own=own)

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
