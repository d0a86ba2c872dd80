"""The batch job that makes a published version of an index from corpus files and an encoder bundle.

Its stages are reading.py (which cleans and encodes), vectors.py, lexicon.py and quality_report.py. Results
that take long are kept in files: after a kill, the same command resumes from them and makes the same bytes.
"""

import hashlib
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index.build.cleaning import Cleaning
from index.build.corpus import CorpusReader, by_language, sources_of
from index.build.inputs import Inputs, forget
from index.build.job import LOCAL_ENGINE, Engine, Job, making, save_array
from index.build.lexicon import (
    EVERY_WORD,
    LanguageTokens,
    WordOptions,
    choose_words,
    count_language,
    write_words,
)
from index.build.previous_version import PreviousVersion
from index.build.probes import fingerprint
from index.build.process_pool import ProcessPool
from index.build.quality_report import with_quality
from index.build.reading import read_language, vectors_of
from index.build.vectors import DEFAULT_SEARCH, SearchOptions, write_indexes, write_neighbourhoods
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import BundleError, OutdatedError, PassepartoutError, UsageError
from index.formats.registry import Source, format_of
from index.storage.files import fsync_tree, verify
from index.storage.index_manifest import (
    INDEX_FORMAT,
    CleaningEntry,
    IndexManifest,
    LanguageEntry,
    Options,
    WordAlignment,
)
from index.storage.manifest import read_manifest
from index.storage.tables import read_array
from index.storage.versions import (
    DETECTOR,
    ENCODER,
    VERSIONS,
    building,
    current,
    made,
    next_version,
    open_version,
    parts_of,
    publish,
    serve,
    unserved,
)
from index.text.identification import Detector
from index.words.procrustes import Alignment
from index.words.vocabulary import training_words

ALL_CLEANING_RULES = Cleaning()


@dataclass(frozen=True)
class Plan:
    """What to build: the new sentences of each language, those of the `previous` version, and all options.

    `skipped` is as in the manifest. `fingerprints`, as JSON, identify all inputs but the encoder; `inputs`
    are the corpus files. `base`: the version that is changed. `since`: if a later version than this was built
    from the same inputs, it is the result and nothing is built; the caller was then killed before it learned
    of that version.
    """

    readers: Mapping[str, CorpusReader]
    skipped: Mapping[str, int]
    cleaning: Cleaning
    fingerprints: object
    inputs: Inputs
    previous: Mapping[str, PreviousVersion] = field(default_factory=dict)
    base: str | None = None
    searching: SearchOptions = DEFAULT_SEARCH
    word_options: WordOptions = EVERY_WORD
    since: str | None = None
    measure_aligned: bool = False

    def cleaning_entry(self) -> CleaningEntry:
        """The cleaning rules as the manifest lists them."""
        rules = self.cleaning
        return CleaningEntry(off=tuple(sorted(rules.off)), longest=rules.longest, likeness=rules.likeness)

    def options(self) -> Options:
        """The other options as the manifest lists them."""
        words = self.word_options
        return Options(
            factory=self.searching.factory,
            store=self.searching.store,
            least_count=words.least,
            phrases=words.phrases,
        )


def build_index(
    bundle: Bundle,
    corpora: Mapping[str, Path] | Sequence[Source],
    out: Path,
    *,
    threads: int = 1,
    batch_size: int = 64,
    cleaning: Cleaning = ALL_CLEANING_RULES,
    searching: SearchOptions = DEFAULT_SEARCH,
    word_options: WordOptions = EVERY_WORD,
    since: str | None = None,
    engine: Engine = LOCAL_ENGINE,
    measure_aligned: bool = False,
) -> IndexManifest:
    """Build and publish a version of the index `out` from corpus files; return its manifest.

    `corpora`: files by language, or sources. `since`: as in `Plan`. `measure_aligned`: line i means the same
    in every file, which is used to measure quality and not to translate. Raises UsageError if the files are
    not aligned so, UnknownLanguageError for a language that the bundle does not know, CorpusError for a file
    that cannot be read, BusyError while another build of `out` runs, BundleError if `out` cannot be written.
    """
    known = bundle.manifest.languages
    inputs = Inputs.of(sources_of(corpora))
    sources_by_language, skipped, expected = by_language(sources_of(corpora), known, bundle.name)
    if measure_aligned:
        _check_lines(sources_by_language, expected)
    readers = {
        code: CorpusReader(code, sources, known, expected[code], by_file=len(sources) > 1)
        for code, sources in sources_by_language.items()
    }
    plan = Plan(
        readers,
        skipped,
        cleaning,
        inputs.fingerprints(sources_by_language),
        inputs,
        searching=searching,
        word_options=word_options,
        since=since,
        measure_aligned=measure_aligned,
    )
    return run_plan(bundle, plan, out, threads, batch_size, engine)


def _check_lines(files_by_language: Mapping[str, Sequence[Source]], lines: Mapping[str, int]) -> None:
    """Raise UsageError unless each language has one text file, and all have equally many lines."""
    sources = [source for files in files_by_language.values() for source in files]
    if len(sources) > len(files_by_language) or any(format_of(source) != "txt" for source in sources):
        raise UsageError("--measure-aligned: give one text file a language, line i the same in each")
    if len(set(lines.values())) > 1:
        described = ", ".join(f"{code} {count}" for code, count in lines.items())
        raise UsageError(
            f"--measure-aligned: the files differ in lines ({described}): line i must say the same"
        )


def run_plan(
    bundle: Bundle,
    plan: Plan,
    out: Path,
    threads: int,
    batch_size: int = 64,
    engine: Engine = LOCAL_ENGINE,
) -> IndexManifest:
    """Build and publish a plan; return the manifest. Raises what `build_index` does, and OutdatedError."""
    key = build_key(bundle, plan)
    if plan.searching.store:
        from index.build.milvus_store import check_reachable  # pymilvus is an extra

        check_reachable(plan.searching.store)
    try:
        with building(out, key) as work:
            if finished := unserved(out, key):
                work.rmdir()
                serve(out, finished)
                return read_manifest(out / VERSIONS / finished, IndexManifest, "a version of an index")
            if plan.since and (existing := made(out, key, plan.since)):
                work.rmdir()
                return read_manifest(out / VERSIONS / existing, IndexManifest, "a version of an index")
            if plan.base and plan.base != current(out):
                raise OutdatedError(f"{out}: another version is served now: repeat the command")
            return _Build(bundle, plan, work, threads, batch_size, engine).run(out)
    except (OSError, sqlite3.Error) as error:
        raise BundleError(
            f"{out}: the build stopped ({error}): free space or rights, then repeat it"
        ) from error


def build_key(bundle: Bundle, plan: Plan) -> str:
    """The SHA-256 of everything that determines the content of a version."""
    files = {name: entry.sha256 for name, entry in sorted(bundle.manifest.files.items())}
    rules = plan.cleaning_entry().model_dump_json()
    return hashlib.sha256(
        json.dumps(
            [
                INDEX_FORMAT,
                bundle.name,
                files,
                plan.fingerprints,
                rules,
                plan.base,
                asdict(plan.searching),
                asdict(plan.word_options),
                fingerprint(),
                *(["measure aligned"] if plan.measure_aligned else []),
            ]
        ).encode()
    ).hexdigest()


class _Build:
    """One run of the job, whose stages leave files."""

    def __init__(
        self, bundle: Bundle, plan: Plan, work: Path, threads: int, batch_size: int, engine: Engine
    ) -> None:
        self.bundle, self.plan, self.work, self.engine = bundle, plan, work, engine
        # One thread, so that the vectors do not depend on the number of cores.
        self.encoder = TextEncoder(bundle)
        self.job = Job(work, parts_of(work), bundle, self.encoder, threads, batch_size)
        # Words and phrases of the corpora.
        self.counts: dict[str, Counter[str]] = {}
        self.phrases: dict[str, Mapping[str, int]] = {}
        self.entries: dict[str, LanguageEntry] = {}

    def run(self, out: Path) -> IndexManifest:
        """Run every stage and publish the version in the index `out`."""
        self.plan.inputs.resume(self.work, self.job.parts)
        self._copy_bundle()
        unchanged = self._unchanged_detector_rows(out)
        trained = {
            code: Counter() if code in unchanged else training_words(self.bundle, code)
            for code in self.bundle.manifest.languages
        }
        tokens = LanguageTokens(self.encoder, trained, self.plan.readers, unchanged)
        with self._pool(tokens.detector) as pool:
            for code, reader in self.plan.readers.items():
                self._read_language(code, reader, pool)
        self._index_sentences()
        alignment = self._index_words({code: trained[code] for code in self.plan.readers})
        detector = tokens.with_corpora(self.counts)
        save_array(self.work / DETECTOR, detector.table)
        manifest = with_quality(
            self.job,
            self._manifest(next_version(out), alignment, detector.languages),
            by_line=self.plan.measure_aligned,
        )
        if self.plan.searching.store:
            from index.build.milvus_store import put_into_store  # pymilvus is an extra

            manifest = put_into_store(self.job, manifest, self.plan.searching)
        self._check(out)
        return publish(out, self.work, manifest)

    def _check(self, out: Path) -> None:
        """Discard the work and raise CorpusError or DamagedError if a file changed since the build began."""
        try:
            self.plan.inputs.check()
            verify(self.work / ENCODER, self.bundle.manifest.files)
            if self.plan.base:
                open_version(out, self.plan.base)
        except PassepartoutError:
            forget(self.work, self.job.parts)
            raise

    def _unchanged_detector_rows(self, out: Path) -> dict[str, NDArray[np.float32]]:
        """The previous version's detector rows of languages without sentences before and after the change."""
        if not self.plan.base:
            return {}
        folder = out / VERSIONS / self.plan.base
        manifest = read_manifest(folder, IndexManifest, "a version of an index")
        table = read_array(folder / DETECTOR, (len(manifest.detects), self.encoder.vocabulary))
        rows = zip(manifest.detects, table, strict=True)
        built = {*manifest.languages, *self.plan.readers}
        return {code: row for code, row in rows if code not in built}

    def _manifest(self, version: str, alignment: Alignment, detects: tuple[str, ...]) -> IndexManifest:
        return IndexManifest(
            version=version,
            base=self.plan.base,
            created=datetime.now(UTC),
            model=self.bundle.name,
            dimension=self.encoder.dimension,
            scoring=self.plan.searching.scoring,
            options=self.plan.options(),
            key=self.work.name,
            languages=self.entries,
            alignment=_summary(alignment),
            detects=detects,
            cleaning=self.plan.cleaning_entry(),
            skipped=dict(self.plan.skipped),
        )

    def _copy_bundle(self) -> None:
        target = self.work / ENCODER
        if not target.exists():
            with making(target) as draft:
                shutil.rmtree(draft, ignore_errors=True)
                shutil.copytree(self.bundle.folder, draft)
                fsync_tree(draft)

    def _pool(self, detector: Detector) -> ProcessPool:
        """The pool that encodes, a context manager; every kind of pool gives the same bytes."""
        if self.engine.kind == "local":
            return ProcessPool(self.job, detector)
        from index.build.ray import RayPool  # Ray is an extra

        return RayPool(self.job, detector, self.engine.address)

    def _index_sentences(self) -> None:
        """Write the vector index and the neighbourhood means of each language's sentences."""
        sizes = {code: entry.sentences for code, entry in self.entries.items()}
        vectors = {code: vectors_of(self.job, code, size) for code, size in sizes.items()}
        settings = write_indexes(self.job, "", vectors, self.plan.searching.factory)
        write_neighbourhoods(self.job, "", sizes, settings, "sentences")
        for code, search in settings.items():
            self._update(code, search=search)

    def _index_words(self, trained: Mapping[str, Counter[str]]) -> Alignment:
        """Choose words among those of corpora and training, align them, and write their vector indexes."""
        all_counts = {code: counts + trained[code] for code, counts in self.counts.items()}
        chosen = choose_words(all_counts, self.phrases, self.plan.word_options)
        sentences = {code: entry.sentences for code, entry in self.entries.items()}
        alignment, vectors = write_words(self.job, chosen, sentences)
        settings = write_indexes(self.job, ".words", vectors)
        sizes = {code: len(words) for code, words in chosen.items()}
        write_neighbourhoods(self.job, ".words", sizes, settings, "words")
        for code, words in chosen.items():
            phrases = sum(" " in word for word in words)
            self._update(code, words=sizes[code], phrases=phrases, word_search=settings[code])
        return alignment

    def _update(self, code: str, **fields: object) -> None:
        """Set fields of a language's entry in the manifest."""
        self.entries[code] = self.entries[code].model_copy(update=fields)

    def _read_language(self, code: str, reader: CorpusReader, pool: ProcessPool) -> None:
        """Read, clean, encode and count the sentences of a language."""
        entry = read_language(self.job, reader, self.plan.cleaning, pool, self.plan.previous.get(code))
        self.counts[code], self.phrases[code] = count_language(self.job, code, pool, self.plan.word_options)
        self.entries[code] = entry


def _summary(alignment: Alignment) -> WordAlignment:
    return WordAlignment(
        iterations=alignment.iterations,
        converged=alignment.converged,
        pull=alignment.pull if np.isfinite(alignment.pull) else None,
        anchors={f"{a}-{b}": count for (a, b), count in alignment.anchors.items()},
        orthogonality=alignment.orthogonality,
    )
