"""SentenceIndex: the sentences of one language with their vectors and neighbourhood means, to be searched."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import log1p
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.confidence import MIN_CONFIDENCE
from index.confidence.calibration import FALLBACK, Calibration
from index.confidence.domain import Domain
from index.confidence.quality import Confidence
from index.encoder.vectors import Vectors
from index.formats.sentence import Sentence
from index.search.coverage import coverage
from index.search.ranking import Contradiction, Coverage, Evidence, Match, assess, candidates, rank
from index.search.word_vectors import WordVectors, words_of
from index.storage.groups import Groups
from index.storage.index_manifest import IndexManifest
from index.storage.tables import SENTENCE_COLUMNS, read_array, read_table
from index.text.normalisation import SENTENCE_ENDS, clean
from index.text.number_words import Number, contradict, numbers_in
from index.text.placeables import without_tags
from index.vectors.faiss import FaissIndex
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, NeighbourhoodMeans, neighbourhood_means
from index.vectors.vector_index import Rows, VectorIndex


def open_vectors(folder: Path, language: str, manifest: IndexManifest, threads: int = 1) -> VectorIndex:
    """Open LANG.faiss of a verified version, or the collection that its manifest names.

    Raises DamagedError if its shape is not that of the manifest, StoreError if Milvus does not answer.
    """
    search, count = manifest.languages[language].search, manifest.languages[language].sentences
    dimension = manifest.dimension
    if search.store == "milvus":
        from index.vectors.milvus import MilvusIndex  # pymilvus is an extra

        return MilvusIndex(manifest.options.store or "", count, dimension, search)
    return FaissIndex.open(folder / f"{language}.faiss", count, dimension, search, threads)


def sentence_of(table: Any, row: int) -> Sentence:  # noqa: ANN401 (pyarrow is untyped)
    """The sentence of a row of LANG.arrow, without its language and line."""
    sentence_id, text, metadata = (table.column(name)[row].as_py() for name in SENTENCE_COLUMNS)
    return Sentence(sentence_id, text, "", 0, json.loads(metadata))


class SentenceIndex:
    """The sentences of one language; `sources` are the languages of the columns of `means`."""

    def __init__(
        self,
        vectors: VectorIndex,
        table: Any,  # noqa: ANN401 (pyarrow is untyped)
        means: NDArray[np.float32],
        sources: Sequence[str],
        calibration: Calibration = FALLBACK,
        groups: Groups | None = None,
        *,
        language: str = "",
        confidence: Confidence | None = None,
        domain: Domain | None = None,
        words: Mapping[str, WordVectors] | None = None,
    ) -> None:
        self.vectors, self.groups = vectors, groups
        self._table = table
        self._ids, self._texts, self._metadata = (table.column(name) for name in SENTENCE_COLUMNS)
        self._means = NeighbourhoodMeans(means, sources)
        self._confidence = confidence or Confidence()
        self._calibration = self._confidence.plain or calibration
        self._language, self._domain = language, domain
        self._words = words or {}

    def __len__(self) -> int:
        return len(self.vectors)

    @classmethod
    def open(
        cls,
        folder: Path,
        language: str,
        manifest: IndexManifest,
        *,
        calibration: Calibration | None = None,
        domain: Domain | None = None,
        words: Mapping[str, WordVectors] | None = None,
        threads: int = 1,
    ) -> "SentenceIndex":
        """Open LANG.faiss or LANG.milvus, LANG.arrow and LANG.hubness.npy of a verified version.

        `words` are the word vectors of each language of the index.
        """
        entry, sources = manifest.languages[language], manifest.sources(language)
        count, links = entry.sentences, entry.links
        return cls(
            open_vectors(folder, language, manifest, threads),
            read_table(folder / f"{language}.arrow", SENTENCE_COLUMNS, count),
            read_array(folder / f"{language}.hubness.npy", (count, len(sources))),
            sources,
            calibration or FALLBACK,
            Groups.open(folder / f"{language}.groups.arrow", links) if links else None,
            language=language,
            confidence=manifest.confidence,
            domain=domain,
            words=words,
        )

    def search(
        self, queries: Vectors, source: str, k: int = 1, texts: Sequence[str] | None = None
    ) -> list[list[Match]]:
        """Find up to k matches for each unit vector (n, d) of a sentence in `source`, best first.

        With their `texts`, confidence is based on more evidence.
        """
        return self.begin(queries, source, k, texts)()

    def begin(
        self, queries: Vectors, source: str, k: int, texts: Sequence[str] | None
    ) -> Callable[[], list[list[Match]]]:
        """Do the long part of `search`, which hardly holds the GIL; the returned function ends it."""
        if len(queries) == 0:
            return list
        nearest = candidates(self.vectors, queries, k)

        def finish() -> list[list[Match]]:
            calibration, evidence = self._calibrated(texts, source)
            ranked = rank(
                self.vectors,
                self.means_from(source),
                queries,
                k,
                calibration,
                nearest=nearest,
                evidence=evidence,
            )
            chances = self._domain_chances(texts, nearest[0])
            ranked = replace(ranked, confidences=ranked.confidences * chances[:, None])
            matches = [[self._match(*values) for values in answer] for answer in ranked.answers()]
            if texts is None:
                return matches
            return [self._with_numbers(text, source, row) for text, row in zip(texts, matches, strict=True)]

        return finish

    def assess(
        self, query: Vectors, rows: Sequence[int], source: str, text: str | None = None
    ) -> list[Match]:
        """Score given rows for the unit vector (1, d) of a sentence in `source`, as `search` does."""
        calibration, evidence = self._calibrated(None if text is None else [text], source)
        means = self.means_from(source)
        ranked = assess(self.vectors, means, query, rows, calibration, evidence=evidence)
        return [self._match(*values) for values in ranked.answers()[0]]

    def _domain_chances(self, texts: Sequence[str] | None, cosines: Vectors) -> NDArray[np.float64]:
        """(n,) the probability that each text is of a kind that the index holds; 1 if it is unknown.

        `cosines` (n, m): those of the nearest sentences to each text, best first.
        """
        if self._domain is None or texts is None:
            return np.ones(len(cosines))
        return self._domain.chances(texts, neighbourhood_means(cosines[:, :CSLS_NEIGHBOURS]))

    def _calibrated(self, texts: Sequence[str] | None, source: str) -> tuple[Calibration, Evidence | None]:
        """The calibration that uses lengths and words, if they are known; otherwise the one without them."""
        mean_lengths, calibration = self._confidence.length, self._confidence.lengths
        if texts is None or calibration is None or not {source, self._language} <= mean_lengths.keys():
            return self._calibration, None
        question_lengths = np.array([length(clean(text)) for text in texts]) - mean_lengths[source]
        return calibration, Evidence(
            question_lengths,
            lambda rows: self.lengths(rows) - mean_lengths[self._language],
            self.coverage(texts, source) if calibration.by_words else None,
            self._contradiction(texts, source),
        )

    def _contradiction(self, texts: Sequence[str], source: str) -> Contradiction:
        """The function that tells which rows, (n, k), have other numbers than the texts in `source`."""
        question_numbers = [_numbers(text, source) for text in texts]

        def contradicting(rows: Rows) -> NDArray[np.bool_]:
            contradicts = np.zeros(rows.shape, bool)
            for number, counts in enumerate(question_numbers):
                if counts:
                    answers = [_numbers(self.text(row), self._language) for row in rows[number].tolist()]
                    contradicts[number] = [contradict(counts, answer) for answer in answers]
            return contradicts

        return contradicting

    def coverage(
        self, texts: Sequence[str], source: str, text_of: Callable[[int], str] | None = None
    ) -> Coverage | None:
        """The function that measures how texts in `source` and rows cover each other (coverage.py).

        None if the words of either language are unknown. `text_of` gives the text of a row, also of rows
        that are not in the index; by default `text`.
        """
        if not {source, self._language} <= self._words.keys():
            return None
        bare = [without_tags(text) for text in texts]
        return coverage(self._words[source], self._words[self._language], bare, text_of or self.text)

    def lengths(self, rows: Rows) -> NDArray[np.float64]:
        """(n,) the `length` of the sentences in the given rows."""
        return np.array([length(self._texts[row].as_py()) for row in rows.tolist()], np.float64)

    def means_from(self, source: str) -> NDArray[np.float32]:
        """(count,) each sentence's mean cosine to its nearest neighbours in `source`."""
        return self._means.seen_from(source)

    def sentence(self, row: int) -> Sentence:
        """The sentence of a row, without its language and line."""
        return sentence_of(self._table, row)

    def texts(self, begin: int, end: int) -> Any:  # noqa: ANN401 (pyarrow is untyped)
        """The texts of the rows from `begin` up to but not including `end`, as an Arrow column."""
        return self._texts.slice(begin, end - begin)

    def text(self, row: int) -> str:
        """The text of a row."""
        text: str = self._texts[row].as_py()
        return text

    def _match(self, row: int, score: float, confidence: float, cosine: float) -> Match:
        return Match(
            text=self._texts[row].as_py(),
            score=score,
            confidence=confidence,
            id=self._ids[row].as_py(),
            cosine=cosine,
            metadata=json.loads(self._metadata[row].as_py()),
            match="near" if self._confidence.near <= confidence < MIN_CONFIDENCE else "translation",
            row=row,
        )

    def _with_numbers(self, text: str, source: str, matches: list[Match]) -> list[Match]:
        """Lower the confidence of answers whose numbers differ from the text's: they are near at best."""
        counts = _numbers(text, source)
        if not counts:
            return matches
        limit = min(self._confidence.near, MIN_CONFIDENCE / 2)
        changed = [
            replace(match, confidence=limit, match="near", penalties=("numbers",))
            if match.confidence > limit and contradict(counts, _numbers(match.text, self._language))
            else match
            for match in matches
        ]
        return sorted(changed, key=lambda match: -match.confidence)


def _numbers(text: str, language: str) -> Counter[Number]:
    bare = without_tags(text)
    return numbers_in(bare, words_of(bare, language), language)


def length(text: str) -> float:
    """log(1 + characters) of a text without its final punctuation, as `quality.Confidence` counts."""
    return log1p(len(text.rstrip(SENTENCE_ENDS)))
