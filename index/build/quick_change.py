"""A change in seconds: a version that shares large files with the one before, and has small ones beside them.

LANG.faiss stays; the vectors of added and replaced sentences are in LANG.added.faiss, which is searched with
it (vectors/segmented.py). Texts, groups and neighbourhood means are written anew. Words and confidence stay
as they were measured until the next build or change of many sentences, which merges all. Each change makes a
version, and removes older ones that such changes made: there may be hundreds a day.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import starmap
from pathlib import Path

import numpy as np
import pyarrow as pa

from index.answers.sentence_features import Features
from index.answers.sentence_index import SentenceIndex
from index.answers.word_index import WORD_COLUMNS
from index.arrays import Numbers, Vectors
from index.build.build_index import Plan, made_before
from index.build.cleaning import Cleaned, Cleaner, compared
from index.build.corpus import Ids, columns_of
from index.build.encoding import Worker
from index.build.previous_version import PreviousVersion
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import BundleError
from index.formats.sentence import Sentence
from index.storage.groups import write_groups
from index.storage.index_manifest import IndexManifest, LanguageEntry, VectorSegment
from index.storage.tables import SENTENCE_COLUMNS, read_array, read_table, strings
from index.storage.versions import (
    ADDED_FILE,
    DETECTOR,
    VERSIONS,
    building,
    current,
    manifest_of,
    publish_change,
    remove_versions,
    versions,
)
from index.text.identification import Detector
from index.text.normalisation import clean
from index.vectors.faiss import write_faiss
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, best_csls, neighbourhood_means
from index.vectors.segmented import Segmented, open_vectors

MOST_CHANGED = 1000  # rows of a language that were added, replaced or deleted since it was built
KEPT_CHANGES = 10  # latest versions that a change leaves, and those of the last RECENT_SECONDS: a job
RECENT_SECONDS = 600  # that is begun again looks for the version that it made
NEAR_SOUGHT = 8  # sentences among which a duplicate is sought: its vector is the same

Added = Mapping[str, Sequence[tuple[str, Sentence]]]  # language -> (file, sentence)


def is_quick(manifest: IndexManifest, previous: Mapping[str, PreviousVersion], added: Added) -> bool:
    """Whether a change is of few sentences, in languages that stay, whose vectors are in files."""

    def rows(code: str, base: PreviousVersion) -> int:
        segment = base.entry.segment or VectorSegment()
        before = len(segment.rows) + len(segment.deleted)
        return before + len(base.deleted) + len(base.replaced) + len(added.get(code, ()))

    return (
        manifest.options.store is None
        and set(added) <= set(previous)
        and all(base.left and rows(code, base) <= MOST_CHANGED for code, base in previous.items())
    )


def change_quickly(index: Path, bundle: Bundle, plan: Plan, added: Added) -> IndexManifest:
    """Publish a version with the changes of a plan, whose corpus has the sentences `added`.

    Returns its manifest. Raises what `change_index` does.
    """
    first = next(iter(plan.previous.values()))
    folder, manifest = first.folder, first.manifest
    with building(index) as work:
        if made := made_before(index, plan.base, plan.job):
            return made
        encoder = TextEncoder(bundle)
        table = read_array(folder / DETECTOR, (len(manifest.detects), encoder.vocabulary))
        worker = Worker(encoder, Detector(manifest.detects, table, manifest.languages))
        entries, replaced = dict(manifest.languages), set[str]()
        for code, base in plan.previous.items():
            if len(base.deleted) or len(base.replaced) or code in added:
                change = _Change(work, code, base, worker)
                ids = Ids(code, plan.corpus.may_have(code), by_file=not plan.own_ids, strict=True)
                entries[code] = change.write(added.get(code, ()), ids)
                replaced.add(ADDED_FILE.format(code))
        skipped = {**plan.skipped, **plan.corpus.skipped}
        update = {"job": plan.job, "languages": entries, "skipped": skipped}
        made = publish_change(index, work, manifest, replaced, **update)
        remove_versions(index, work.parent, list(_superseded(index, time.time() - RECENT_SECONDS)))
        return made


def _superseded(index: Path, before: float) -> Iterator[str]:
    """The versions that quick changes made before a time, but for the latest and the one served."""
    for name in versions(index)[:-KEPT_CHANGES]:
        if name != current(index) and (index / VERSIONS / name).stat().st_mtime < before:
            with suppress(BundleError):  # a damaged one is left to `index gc`
                if any(entry.segment for entry in manifest_of(index, name).languages.values()):
                    yield name


class _Change:
    """The change of one language: writes its small files into `work`."""

    def __init__(self, work: Path, code: str, base: PreviousVersion, worker: Worker) -> None:
        self.work, self.code, self.base, self.worker = work, code, base, worker
        self.rules = base.manifest.cleaning

    def write(self, added: Sequence[tuple[str, Sentence]], ids: Ids) -> LanguageEntry:
        """Write the files that change; return the language's entry of the manifest."""
        files, sentences, new, done = self._cleaned(added)
        self._write_table(files, sentences, ids)
        self._write_features([sentence.text for sentence in sentences])
        replaced = np.array(sorted(self.base.replaced), np.int64)  # rows, as numbered before
        replacing = [self.base.replaced[row][1].text for row in replaced.tolist()]
        other = self.worker.encode(self.code, replacing, False).vectors
        self._write_means(replaced, other, new)
        return self.base.entry.model_copy(
            update={
                "sentences": done.kept,
                "lines": done.lines,
                "changed": done.changed,
                "dropped": dict(done.dropped),
                "links": self._write_groups(done),
                "segment": self._write_vectors(replaced, other, new),
            }
        )

    def _cleaned(
        self, added: Sequence[tuple[str, Sentence]]
    ) -> tuple[list[str], list[Sentence], Vectors, Cleaned]:
        """The files, sentences and vectors of what is kept of the sentences added; what cleaning did."""
        texts = list(dict.fromkeys(clean(sentence.text) for _, sentence in added))
        foreign, vectors = self.worker.encode(self.code, texts, "language" not in self.rules.off)
        with self._cleaner(texts, vectors) as cleaner:
            batch = cleaner.begin(added)
            kept = list(cleaner.finish(batch, dict(zip(texts, foreign, strict=True))))
        place = {text: row for row, text in enumerate(texts)}
        new = vectors[[place[batch.texts[number]] for number, _ in kept]]
        return [added[number][0] for number, _ in kept], [sentence for _, sentence in kept], new, cleaner.done

    @contextmanager
    def _cleaner(self, texts: Sequence[str], vectors: Vectors) -> Iterator[Cleaner]:
        """A cleaner that knows the sentences of the index that may be duplicates of some texts."""
        base = self.base
        record = self.work / f"{self.code}.dropped.tsv"
        with record.open("w", encoding="utf-8", newline="") as lines, Cleaner(self.rules, lines) as cleaner:
            cleaner.resume(base)
            cleaner.done.kept = base.left
            near = np.unique(base.vectors.search(vectors, NEAR_SOUGHT)[1]) if texts else np.zeros(0, np.int64)
            rows = np.setdiff1d(near, base.deleted)
            known = list(starmap(compared, base.texts(rows)))
            cleaner.know(list(zip(known, base.renumbered(rows).tolist(), strict=True)))
            yield cleaner

    def _write_table(self, files: Sequence[str], sentences: Sequence[Sentence], ids: Ids) -> None:
        """Write LANG.arrow, with a record batch more than before."""
        base, start = self.base, 0
        ids.reserve(base.holds(ids.of(files, sentences)))
        own = columns_of(ids, files, sentences).values()
        ids.close()
        with pa.OSFile(str(self.work / f"{self.code}.arrow"), "wb") as file:
            schema = pa.schema([(name, pa.string()) for name in SENTENCE_COLUMNS])
            with pa.ipc.new_file(file, schema) as writer:
                for batch in base.batches():
                    stop = start + batch.num_rows
                    if any(start <= row < stop for row in (*base.deleted.tolist(), *base.replaced)):
                        kept = base.block(start, stop)
                        columns = (kept.ids, kept.texts, kept.metadata)
                        batch = pa.record_batch(list(map(strings, columns)), schema=schema)
                    writer.write_batch(batch)
                    start = stop
                if sentences:
                    writer.write_batch(pa.record_batch(list(map(strings, own)), schema=schema))

    def _write_groups(self, done: Cleaned) -> int:
        """Write LANG.groups.arrow, of the rows that stay and the new ones; returns how many links."""
        rows, groups = self.base.links(0, self.base.count)
        path = self.work / f"{self.code}.groups.arrow"
        return write_groups(path, np.append(rows, done.rows), np.append(groups, done.groups))

    def _write_features(self, texts: Sequence[str]) -> None:
        """Write LANG.features.*, with those of the replaced texts and of the new ones, `texts`."""
        base, code = self.base, self.code
        table = read_table(base.folder / f"{code}.words.arrow", WORD_COLUMNS, base.entry.words)
        replaced = sorted(base.replaced)
        every = [*(base.replaced[row][1].text for row in replaced), *texts]
        new = Features.of([every], table.column("word").to_pylist(), code)
        features = Features.open(base.folder, code, base.count).followed(new)
        if replaced or len(base.deleted):
            order = np.arange(base.count)
            order[replaced] = base.count + np.arange(len(replaced))
            added = base.count + np.arange(len(replaced), len(every))
            features = features.take(np.concatenate([np.delete(order, base.deleted), added]))
        for name, values in features.arrays(code).items():
            np.save(self.work / name, values, allow_pickle=False)

    def _write_means(self, replaced: Numbers, other: Vectors, new: Vectors) -> None:
        """Write LANG.hubness.npy and LANG.best.npy with the values of the replaced and the new rows."""
        base, manifest = self.base, self.base.manifest
        sources = manifest.sources(self.code)
        vectors = np.concatenate([other, new])
        means, best = np.zeros((2, len(vectors), len(sources)), np.float32)
        for column, source in enumerate(sources):
            cosines, rows = open_vectors(base.folder, source, manifest).search(vectors, CSLS_NEIGHBOURS)
            means[:, column] = neighbourhood_means(cosines)
            theirs = SentenceIndex.open(base.folder, source, manifest).means_from(self.code)
            best[:, column] = best_csls(cosines, means[:, column], theirs[rows])
        for name, values in (("hubness", means), ("best", best)):
            file = f"{self.code}.{name}.npy"
            every = np.array(read_array(base.folder / file, (base.count, len(sources))))
            every[replaced] = values[: len(replaced)]
            every = np.concatenate([np.delete(every, base.deleted, axis=0), values[len(replaced) :]])
            np.save(self.work / file, every, allow_pickle=False)

    def _write_vectors(self, replaced: Numbers, other: Vectors, new: Vectors) -> VectorSegment | None:
        """Write LANG.added.faiss, of what it had and still is, of the replaced and the new rows."""
        base, before = self.base, self.base.entry.segment or VectorSegment()
        main = Segmented.main_rows_of(base.entry.main_rows, before)
        there = base.deleted[base.deleted < len(main)], replaced[replaced < len(main)]
        deleted = np.union1d(np.array(before.deleted, np.int64), main[there[0]])
        outdated = np.union1d(np.array(before.replaced, np.int64), main[there[1]])
        kept = np.setdiff1d(np.array(before.rows, np.int64), np.union1d(base.deleted, replaced))
        rows = np.concatenate(
            [base.renumbered(kept), base.renumbered(replaced), np.arange(len(new)) + base.left]
        )
        if len(rows):
            vectors = np.concatenate([base.vectors.reconstruct(kept), other, new])
            write_faiss(self.work / ADDED_FILE.format(self.code), vectors, "Flat")
        segment = VectorSegment(
            deleted=tuple(deleted.tolist()),
            replaced=tuple(np.setdiff1d(outdated, deleted).tolist()),
            rows=tuple(rows.tolist()),
        )
        return None if segment == VectorSegment() else segment
