"""A language of the version that is changed: what of it stays, what is replaced, what is deleted."""

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from index.build.shards import SHARD
from index.corpus.groups import Groups
from index.corpus.reader import metadata_of
from index.corpus.sentence_table import COLUMNS
from index.encoder.vectors import Vectors
from index.formats.sentence import Sentence, group_number
from index.search.sentence_index import open_vectors
from index.storage.index_manifest import IndexManifest
from index.storage.tables import read_table

DELETED = "deleted"  # the reason of what was taken out by its id

Numbers = NDArray[np.int64]
Replacements = Mapping[str, tuple[str, Sentence]]  # id -> file, sentence in the form that is stored


@dataclass(frozen=True)
class KeptRows:
    """Rows that stay; `changed` are the places of those with a new text, whose vectors do not count.

    `rows` and `groups` are pairs, rows as they are numbered in the new version.
    """

    ids: list[str]
    texts: list[str]
    metadata: list[str]
    vectors: Vectors
    changed: list[int]
    rows: list[int]
    groups: list[int]


class PreviousVersion:
    """One language of a verified version."""

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
        self._table = read_table(folder / f"{code}.arrow", COLUMNS, self.count)
        self._vectors = open_vectors(folder, code, manifest)
        self._groups = Groups.open(folder / f"{code}.groups.arrow", self.entry.links)
        self._deleted = self._places(deleted)

    @property
    def left(self) -> int:
        """How many sentences stay."""
        return self.count - len(self._deleted)

    def holds(self, ids: Collection[str]) -> list[str]:
        """Those of some ids that it has."""
        there: list[str] = self._table.column("id").take(pa.array(self._places(ids))).to_pylist()
        return there

    def _places(self, ids: Collection[str]) -> Numbers:
        """The rows of some ids, in order."""
        there = pc.is_in(self._table.column("id"), value_set=pa.array(sorted(ids), pa.string()))
        rows: Numbers = np.flatnonzero(np.asarray(there)).astype(np.int64)
        return rows

    def blocks(self) -> Iterator[KeptRows]:
        """All that stays, in order."""
        for start in range(0, self.count, SHARD):
            yield self._block(start, min(start + SHARD, self.count))

    def reasons(self) -> dict[str, int]:
        """How many lines were dropped until now, and are with what is deleted, by reason."""
        reasons = Counter(self.entry.dropped)
        if len(self._deleted):
            reasons[DELETED] += len(self._deleted)
        return dict(reasons)

    def record(self) -> Iterator[list[str]]:
        """The lines of LANG.dropped.tsv, rows numbered anew, and what is deleted."""
        with (self._folder / f"{self._code}.dropped.tsv").open(encoding="utf-8", newline="") as file:
            lines = csv.reader(file, delimiter="\t")
            next(lines, None)
            for reason, name, line, sentence_id, row, text in lines:
                yield [reason, name, line, sentence_id, self._renumbered(row), text]
        for place in self._deleted.tolist():
            sentence_id, text = (self._table.column(name)[place].as_py() for name in ("id", "text"))
            yield [DELETED, "", "", sentence_id, "", text]

    def _renumbered(self, row: str) -> str:
        """A row as the new version has it; none where it is deleted."""
        if not row or int(row) < 0:
            return ""
        place = int(np.searchsorted(self._deleted, int(row)))
        gone = place < len(self._deleted) and self._deleted[place] == int(row)
        return "" if gone else str(int(row) - place)

    def _block(self, start: int, stop: int) -> KeptRows:
        stay = np.setdiff1d(np.arange(start, stop), self._deleted)
        ids, texts, metadata = (
            self._table.column(name).slice(start, stop - start).take(pa.array(stay - start)).to_pylist()
            for name in COLUMNS
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
        vectors = self._vectors.reconstruct(stay)
        return KeptRows(ids, texts, metadata, vectors, changed, rows, groups)

    def _links(self, start: int, stop: int) -> tuple[list[int], list[int]]:
        """The pairs of the rows that stay, rows numbered anew."""
        rows, groups = self._groups.between(start, stop)
        stay = ~np.isin(rows, self._deleted)
        rows, groups = rows[stay], groups[stay]
        return (rows - np.searchsorted(self._deleted, rows)).tolist(), groups.tolist()
