"""SentenceIndex: the sentences of one language, their vectors, and what a build computed of them."""

import json
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from index.answers.candidates import Candidates, gaps
from index.answers.sentence_features import Features
from index.arrays import Numbers, Vectors
from index.formats.sentence import Sentence
from index.storage.groups import Groups
from index.storage.index_manifest import IndexManifest
from index.storage.tables import SENTENCE_COLUMNS, read_array, read_table
from index.vectors.neighbourhoods import BySource, csls_scores
from index.vectors.segmented import open_vectors
from index.vectors.vector_index import VectorIndex


def sentence_of(table: Any, row: int) -> Sentence:  # noqa: ANN401 (pyarrow is untyped)
    """The sentence of a row of LANG.arrow, without its language and line."""
    sentence_id, text, metadata = (table.column(name)[row].as_py() for name in SENTENCE_COLUMNS)
    return Sentence(sentence_id, text, "", 0, json.loads(metadata))


class SentenceIndex:
    """The sentences of one language; `sources` are the languages of the columns of `means`
    and `best`."""

    def __init__(
        self,
        language: str,
        vectors: VectorIndex,
        table: Any,  # noqa: ANN401 (pyarrow is untyped)
        means: NDArray[np.float32],
        best: NDArray[np.float32],
        sources: Sequence[str],
        features: Features,
        groups: Groups | None = None,
    ) -> None:
        self.language, self.vectors, self.features, self.groups = language, vectors, features, groups
        self._table = table
        self._texts, self._metadata = table.column("text"), table.column("metadata")
        self._said_in: dict[str, NDArray[np.bool_]] = {}
        self._means, self._best = BySource(means, sources), BySource(best, sources)

    @classmethod
    def open(cls, folder: Path, language: str, manifest: IndexManifest, threads: int = 1) -> "SentenceIndex":
        """Open the files of a language in a verified version."""
        entry, sources = manifest.languages[language], manifest.sources(language)
        count, links = entry.sentences, entry.links
        return cls(
            language,
            open_vectors(folder, language, manifest, threads),
            read_table(folder / f"{language}.arrow", SENTENCE_COLUMNS, count),
            read_array(folder / f"{language}.hubness.npy", (count, len(sources))),
            read_array(folder / f"{language}.best.npy", (count, len(sources))),
            sources,
            Features.open(folder, language, count),
            Groups.open(folder / f"{language}.groups.arrow", links) if links else None,
        )

    def __len__(self) -> int:
        return len(self.vectors)

    def means_from(self, source: str) -> NDArray[np.float32]:
        """(count,) each sentence's mean cosine to its nearest neighbours in `source`."""
        return self._means.seen_from(source)

    def best_from(self, source: str) -> NDArray[np.float32]:
        """(count,) each sentence's highest CSLS score with the sentences of the index in `source`."""
        return self._best.seen_from(source)

    def text(self, row: int) -> str:
        """The text of a row."""
        text: str = self._texts[row].as_py()
        return text

    def rows_that_say(self, name: str) -> list[int]:
        """The rows in whose metadata a name occurs."""
        rows: list[int] = pc.indices_nonzero(pc.match_substring(self._metadata, f'"{name}"')).to_pylist()
        return rows

    def sentence(self, row: int) -> Sentence:
        """The sentence of a row, without its language and line."""
        return sentence_of(self._table, row)

    def texts(self, begin: int, end: int) -> Any:  # noqa: ANN401 (pyarrow is untyped)
        """The texts of the rows from `begin` up to but not including `end`, as an Arrow column."""
        return self._texts.slice(begin, end - begin)

    def translations(self, row: int, target: "SentenceIndex") -> list[int]:
        """The rows of the sentences in `target` that translate a row, by the corpus; in itself, the row."""
        if target is self:
            return [row]
        if self.groups is None or target.groups is None:
            return []
        return target.groups.rows(self.groups.of(row))

    def said_in(self, other: "SentenceIndex") -> NDArray[np.bool_]:
        """(count,) which sentences the corpus has in the language of `other`, too; all in their own."""
        if other.language not in self._said_in:
            said = np.full(len(self), other is self)
            if self.groups is not None and other.groups is not None:
                said[self.groups.rows_shared(other.groups)] = True
            self._said_in[other.language] = said
        return self._said_in[other.language]

    def all_translations(self, rows: Numbers, target: "SentenceIndex") -> tuple[Numbers, Numbers]:
        """The `translations` of some rows: the place among these of what each translates, and its own row."""
        said = [self.translations(row, target) for row in rows.tolist()]
        return np.repeat(np.arange(len(said)), list(map(len, said))), np.array(list(chain(*said)), np.int64)


def supported(
    table: Candidates, questions: Vectors, index: SentenceIndex, others: Iterable[SentenceIndex]
) -> Candidates:
    """Rank candidates again, by the mean of their scores and those of what the corpus aligns with them.

    For `questions` (n, d) in a language that the index has no sentences of, so that none of them tells what a
    candidate says. Several languages are surer of that than one: the columns `aligned_score` and
    `aligned_gap` are evidence of their own.
    """
    asked = table["question"]
    sums, counts = table["score"].astype(np.float64), np.ones(len(table))
    for other in others:
        places, aligned = index.all_translations(table["row"], other)
        of_questions = asked[places]
        cosines = np.einsum("md,md->m", other.vectors.reconstruct(aligned), questions[of_questions])
        scores = csls_scores(cosines, table.question_means[of_questions], other.means_from("")[aligned])
        np.add.at(sums, places, scores)
        np.add.at(counts, places, 1)
    scores = (sums / counts).astype(np.float32)
    table = table.with_columns(score=scores, aligned_score=scores).take(np.lexsort((-scores, asked)))
    above = gaps(table["question"], table["score"])
    return table.with_columns(gap=above, aligned_gap=above)


def translated(table: Candidates, index: SentenceIndex, target: SentenceIndex) -> Candidates:
    """What `target` has by the corpus for candidates of `index`, in their order; each row once a question."""
    if target is index:
        return table
    places, rows = index.all_translations(table["row"], target)
    table = table.take(places).with_columns(row=rows)
    pairs = np.stack([table["question"], table["row"]])
    return table.take(np.sort(np.unique(pairs, axis=1, return_index=True)[1]))
