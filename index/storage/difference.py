"""The differences between two versions of an index, by language and sentence id."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from index.errors import BundleError
from index.storage.index_manifest import IndexManifest
from index.storage.tables import SENTENCE_COLUMNS, read_table
from index.storage.versions import current, open_version, versions


@dataclass(frozen=True)
class Difference:
    """The ids that a new version added, deleted, and kept with another text."""

    added: list[str]
    deleted: list[str]
    changed: list[str]


def compare(
    index: Path, old: str | None = None, new: str | None = None
) -> tuple[str, str, dict[str, Difference]]:
    """Compare two versions -> (old ID, new ID, {language: Difference}), without languages that are the same.

    `new` defaults to the version served, `old` to the version that `new` was made from, else to the one
    before it. The ids of one language are in memory at a time. Raises BundleError, DamagedError.
    """
    after, manifest = open_version(index, new or current(index))
    before, earlier = open_version(index, old or _default_old(index, manifest))
    differences = {}
    for code in sorted({*manifest.languages, *earlier.languages}):
        difference = _compare(_table(before, earlier, code), _table(after, manifest, code))
        if difference.added or difference.deleted or difference.changed:
            differences[code] = difference
    return earlier.version, manifest.version, differences


def _default_old(index: Path, manifest: IndexManifest) -> str:
    published = versions(index)
    earlier = published[: published.index(manifest.version)]
    if manifest.base in published:
        return manifest.base
    if not earlier:
        raise BundleError(
            f"{index} has no version before {manifest.version}: give two of {', '.join(published)}"
        )
    return earlier[-1]


def _table(folder: Path, manifest: IndexManifest, code: str) -> Any:  # noqa: ANN401 (pyarrow is untyped)
    entry = manifest.languages.get(code)
    if entry is None:
        return pa.table({name: pa.array([], pa.string()) for name in SENTENCE_COLUMNS})
    return read_table(folder / f"{code}.arrow", SENTENCE_COLUMNS, entry.sentences)


def _compare(old: Any, new: Any) -> Difference:  # noqa: ANN401 (pyarrow is untyped)
    places = pc.index_in(new.column("id"), value_set=_contiguous(old.column("id")))
    old_rows = np.asarray(pc.fill_null(places, -1), np.int64)
    same = np.flatnonzero(old_rows >= 0)
    texts = new.column("text").take(pa.array(same)), old.column("text").take(pa.array(old_rows[same]))
    differ = np.asarray(pc.not_equal(_contiguous(texts[0]), _contiguous(texts[1])))
    gone = np.setdiff1d(np.arange(old.num_rows), old_rows)
    return Difference(
        added=_ids(new, np.flatnonzero(old_rows < 0)),
        deleted=_ids(old, gone),
        changed=_ids(new, same[differ]),
    )


def _contiguous(column: Any) -> Any:  # noqa: ANN401 (pyarrow is untyped)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _ids(table: Any, rows: Any) -> list[str]:  # noqa: ANN401 (pyarrow is untyped)
    ids: list[str] = table.column("id").take(pa.array(rows, pa.int64())).to_pylist()
    return ids
