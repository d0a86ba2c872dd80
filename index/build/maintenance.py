"""Maintenance of an index, files and Milvus alike: verify a version, serve another, remove old ones."""

from pathlib import Path

from index.encoder.bundle import open_index_encoder
from index.storage.index_manifest import IndexManifest
from index.storage.versions import (
    COLLECTIONS,
    clear_work,
    current,
    locked,
    manifest_of,
    open_version,
    remove_versions,
    serve,
    version_before,
    versions,
)
from index.vectors.segmented import open_vectors


def verify_version(index: Path, version: str | None = None) -> tuple[Path, IndexManifest]:
    """Open a version as `open_version` does, computing all checksums again."""
    folder, manifest = open_version(index, version, fresh=True)
    open_index_encoder(folder, manifest)
    for code in manifest.languages:
        open_vectors(folder, code, manifest)
    return folder, manifest


def roll_back(index: Path, version: str | None = None) -> str:
    """Verify and serve another version, by default the one before the current; return its ID.

    Raises BundleError if it does not exist, DamagedError, BusyError while a build is running.
    """
    with locked(index):
        chosen = version or version_before(index)
        verify_version(index, chosen)
        serve(index, chosen)
    return chosen


def collect(index: Path, keep: int = 2) -> list[str]:
    """Remove old versions and the remains of killed builds; return the names of what was removed.

    The latest `keep` versions and the one served stay. Collections in Milvus that no version names are
    dropped last. Raises BundleError if there is no index, BusyError while a build is running, StoreError if
    Milvus does not answer.
    """
    served = current(index)
    with locked(index) as work:
        old = [name for name in versions(index)[: -keep or None] if name != served]
        remove_versions(index, work, old)
        removed = clear_work(work)
        if not (work / COLLECTIONS).exists():
            return removed
        from index.vectors.milvus import drop_unused  # pymilvus is an extra

        used = [
            entry.search.collection
            for name in versions(index)
            for entry in manifest_of(index, name).languages.values()
        ]
        return [*removed, *drop_unused(index, used)]
