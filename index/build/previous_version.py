"""PreviousVersion: a language of the version to be changed; which rows stay, are replaced, are deleted."""

import csv
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from index.arrays import Numbers
from index.build.corpus import metadata_of
from index.formats.sentence import Sentence, group_number
from index.storage.groups import Groups
from index.storage.index_manifest import IndexManifest
from index.storage.tables import SENTENCE_COLUMNS, array, integers, read_table
from index.vectors.segmented import open_vectors

BLOCK_ROWS = 8192  # read at a time
DELETED_BY_ID = "deleted"  # the reason for dropping a sentence that was deleted by its id

Replacements = Mapping[str, tuple[str, Sentence]]  # id -> file, sentence in the form that is stored


@dataclass(frozen=True)
class KeptRows:
    """Consecutive rows that stay, by their `old` numbers; `changed` are the positions of new texts.

    `rows` and `groups` pair rows, numbered as in the new version, with groups of translations.
    """

    ids: list[str]
    texts: list[str]
    metadata: list[str]
    old: Numbers
    changed: list[int]
    rows: Numbers
    groups: Numbers


class PreviousVersion:
    """One language of a verified version, without the ids to be deleted, with sentences replaced."""

    def __init__(self, folder: Path, manifest: IndexManifest, code: str, deleted: Collection[str]) -> None:
        self.folder, self.manifest, self._code = folder, manifest, code
        self.entry = manifest.languages[code]
        self.count = self.entry.sentences
        self._table = read_table(folder / f"{code}.arrow", SENTENCE_COLUMNS, self.count)
        self.vectors = open_vectors(folder, code, manifest)
        self._groups = Groups.open(folder / f"{code}.groups.arrow", self.entry.links)
        self.deleted = self._rows(deleted)
        self.replaced: dict[int, tuple[str, Sentence]] = {}

    def replace(self, replaced: Replacements) -> None:
        """Give sentences other texts."""
        rows, names = self._rows(replaced).tolist(), self.holds(replaced)
        self.replaced = {row: replaced[name] for row, name in zip(rows, names, strict=True)}

    @property
    def left(self) -> int:
        """The number of sentences that stay."""
        return self.count - len(self.deleted)

    def holds(self, ids: Collection[str]) -> list[str]:
        """Return those of the given ids that exist."""
        existing: list[str] = self._table.column("id").take(array(self._rows(ids))).to_pylist()
        return existing

    def _rows(self, ids: Collection[str]) -> Numbers:
        """The rows of the given ids, ascending."""
        return integers(pc.indices_nonzero(pc.is_in(self._table.column("id"), value_set=array(sorted(ids)))))

    def texts(self, rows: Numbers) -> list[tuple[str, str]]:
        """The texts of some rows, each with its metadata."""
        columns = (self._table.column(name).take(array(rows)).to_pylist() for name in ("text", "metadata"))
        return list(zip(*columns, strict=True))

    def renumbered(self, rows: Numbers) -> Numbers:
        """The numbers in the new version of rows that are not deleted."""
        return rows - np.searchsorted(self.deleted, rows)

    def batches(self) -> Iterator[Any]:
        """Yield the record batches of LANG.arrow."""
        yield from self._table.to_batches() if isinstance(self._table, pa.Table) else [self._table]

    def blocks(self) -> Iterator[KeptRows]:
        """Yield the rows that stay, in order and in blocks."""
        for start in range(0, self.count, BLOCK_ROWS):
            yield self.block(start, min(start + BLOCK_ROWS, self.count))

    def reasons(self) -> dict[str, int]:
        """How many lines were dropped before, by reason, including the sentences deleted now."""
        reasons = Counter(self.entry.dropped)
        if len(self.deleted):
            reasons[DELETED_BY_ID] += len(self.deleted)
        return dict(reasons)

    def record(self) -> Iterator[list[str]]:
        """Yield the lines of LANG.dropped.tsv, with rows renumbered, and one for each deleted sentence."""
        with (self.folder / f"{self._code}.dropped.tsv").open(encoding="utf-8", newline="") as file:
            lines = csv.reader(file, delimiter="\t")
            next(lines, None)
            for reason, name, line, sentence_id, row, text in lines:
                yield [reason, name, line, sentence_id, self._renumbered(row), text]
        for place in self.deleted.tolist():
            sentence_id, text = (self._table.column(name)[place].as_py() for name in ("id", "text"))
            yield [DELETED_BY_ID, "", "", sentence_id, "", text]

    def _renumbered(self, row: str) -> str:
        """The number of a row in the new version; "" for a deleted row."""
        if not row or int(row) < 0 or int(row) in self.deleted:
            return ""
        return str(int(self.renumbered(np.array([int(row)]))[0]))

    def block(self, start: int, stop: int) -> KeptRows:
        """Those of some rows that stay."""
        kept = np.setdiff1d(np.arange(start, stop), self.deleted)
        ids, texts, metadata = (
            self._table.column(name).slice(start, stop - start).take(array(kept - start)).to_pylist()
            for name in SENTENCE_COLUMNS
        )
        changed = []
        for row, (file, sentence) in self.replaced.items():
            if start <= row < stop:
                place = int(np.searchsorted(kept, row))
                if texts[place] != sentence.text:
                    changed.append(place)
                told = json.loads(metadata[place]) | json.loads(metadata_of(file, sentence))
                texts[place], metadata[place] = sentence.text, json.dumps(told, ensure_ascii=False)
        return KeptRows(ids, texts, metadata, kept, changed, *self.links(start, stop))

    def links(self, start: int, stop: int) -> tuple[Numbers, Numbers]:
        """The (row, group) pairs of those of some rows that stay, with rows renumbered."""
        rows, groups = self._groups.between(start, stop)
        kept = ~np.isin(rows, self.deleted)
        more = [
            (row, group_number(sentence.group))
            for row, (_, sentence) in self.replaced.items()
            if start <= row < stop and sentence.group is not None
        ]
        own, theirs = np.array(more, np.int64).reshape(-1, 2).T
        return self.renumbered(np.concatenate([rows[kept], own])), np.concatenate([groups[kept], theirs])
