"""PreviousVersion: a language of the version to be changed; which rows stay, are replaced, are deleted."""

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from index.answers.sentence_index import open_vectors
from index.build.corpus import metadata_of
from index.encoder.vectors import Vectors
from index.formats.sentence import Sentence, group_number
from index.storage.groups import Groups
from index.storage.index_manifest import IndexManifest
from index.storage.tables import SENTENCE_COLUMNS, read_table

BLOCK_ROWS = 8192  # read at a time
DELETED_BY_ID = "deleted"  # the reason for dropping a sentence that was deleted by its id

Numbers = NDArray[np.int64]
Replacements = Mapping[str, tuple[str, Sentence]]  # id -> file, sentence in the form that is stored


@dataclass(frozen=True)
class KeptRows:
    """Consecutive rows that stay; `changed` are the positions of new texts, whose vectors are outdated.

    `rows` and `groups` pair rows, numbered as in the new version, with groups of translations.
    """

    ids: list[str]
    texts: list[str]
    metadata: list[str]
    vectors: Vectors
    changed: list[int]
    rows: list[int]
    groups: list[int]


class PreviousVersion:
    """One language of a verified version, with the ids to be deleted and the sentences to be replaced."""

    def __init__(
        self,
        folder: Path,
        manifest: IndexManifest,
        code: str,
        deleted: frozenset[str] = frozenset(),
        replaced: Replacements | None = None,
    ) -> None:
        self.entry = manifest.languages[code]
        self.count = self.entry.sentences
        self._folder, self._code, self._replaced = folder, code, replaced or {}
        self._table = read_table(folder / f"{code}.arrow", SENTENCE_COLUMNS, self.count)
        self._vectors = open_vectors(folder, code, manifest)
        self._groups = Groups.open(folder / f"{code}.groups.arrow", self.entry.links)
        self._deleted = self._rows(deleted)

    @property
    def left(self) -> int:
        """The number of sentences that stay."""
        return self.count - len(self._deleted)

    def holds(self, ids: Collection[str]) -> list[str]:
        """Return those of the given ids that exist."""
        existing: list[str] = self._table.column("id").take(pa.array(self._rows(ids))).to_pylist()
        return existing

    def _rows(self, ids: Collection[str]) -> Numbers:
        """The rows of the given ids, ascending."""
        matches = pc.is_in(self._table.column("id"), value_set=pa.array(sorted(ids), pa.string()))
        rows: Numbers = np.flatnonzero(np.asarray(matches)).astype(np.int64)
        return rows

    def blocks(self) -> Iterator[KeptRows]:
        """Yield the rows that stay, in order and in blocks."""
        for start in range(0, self.count, BLOCK_ROWS):
            yield self._block(start, min(start + BLOCK_ROWS, self.count))

    def reasons(self) -> dict[str, int]:
        """How many lines were dropped before, by reason, including the sentences deleted now."""
        reasons = Counter(self.entry.dropped)
        if len(self._deleted):
            reasons[DELETED_BY_ID] += len(self._deleted)
        return dict(reasons)

    def record(self) -> Iterator[list[str]]:
        """Yield the lines of LANG.dropped.tsv, with rows renumbered, and one for each deleted sentence."""
        with (self._folder / f"{self._code}.dropped.tsv").open(encoding="utf-8", newline="") as file:
            lines = csv.reader(file, delimiter="\t")
            next(lines, None)
            for reason, name, line, sentence_id, row, text in lines:
                yield [reason, name, line, sentence_id, self._renumbered(row), text]
        for place in self._deleted.tolist():
            sentence_id, text = (self._table.column(name)[place].as_py() for name in ("id", "text"))
            yield [DELETED_BY_ID, "", "", sentence_id, "", text]

    def _renumbered(self, row: str) -> str:
        """The number of a row in the new version; "" for a deleted row."""
        if not row or int(row) < 0:
            return ""
        place = int(np.searchsorted(self._deleted, int(row)))
        gone = place < len(self._deleted) and self._deleted[place] == int(row)
        return "" if gone else str(int(row) - place)

    def _block(self, start: int, stop: int) -> KeptRows:
        kept = np.setdiff1d(np.arange(start, stop), self._deleted)
        ids, texts, metadata = (
            self._table.column(name).slice(start, stop - start).take(pa.array(kept - start)).to_pylist()
            for name in SENTENCE_COLUMNS
        )
        rows, groups = self._links(start, stop)
        changed = []
        first = start - int(np.searchsorted(self._deleted, start))
        for place, sentence_id in enumerate(ids if self._replaced else []):
            if sentence_id in self._replaced:
                file, sentence = self._replaced[sentence_id]
                if texts[place] != sentence.text:
                    changed.append(place)
                texts[place], metadata[place] = sentence.text, metadata_of(file, sentence)
                if sentence.group is not None:
                    rows.append(first + place)
                    groups.append(group_number(sentence.group))
        vectors = self._vectors.reconstruct(kept)
        return KeptRows(ids, texts, metadata, vectors, changed, rows, groups)

    def _links(self, start: int, stop: int) -> tuple[list[int], list[int]]:
        """The (row, group) pairs of the rows that stay, with rows renumbered."""
        rows, groups = self._groups.between(start, stop)
        kept = ~np.isin(rows, self._deleted)
        rows, groups = rows[kept], groups[kept]
        return (rows - np.searchsorted(self._deleted, rows)).tolist(), groups.tolist()
