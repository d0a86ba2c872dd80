"""The batch job that makes a published version of an index from corpus files and an encoder bundle.

One pass over the corpora cleans and encodes (reading.py); then come vectors.py, lexicon.py and
quality.py. A killed build is repeated, and goes on from the vectors that it had encoded; the same
corpora make the same bytes.
"""

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from index.build.corpus import Corpus
from index.build.encoding import BuildJob, EncodingPool
from index.build.lexicon import MOST_WORDS, detector_of, word_counts, write_words
from index.build.previous_version import PreviousVersion
from index.build.quality import with_quality
from index.build.reading import read_corpus, vectors_of
from index.build.vectors import move_to_store, write_indexes, write_neighbourhoods
from index.confidence.models import Confidence
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import OutdatedError, UsageError
from index.formats.registry import Source, format_of
from index.storage.files import verify
from index.storage.index_manifest import IndexManifest, LanguageEntry
from index.storage.options import Cleaning, Options
from index.storage.versions import (
    DETECTOR,
    ENCODER_FOLDER,
    building,
    current,
    made_by,
    next_version,
    parts_of,
    publish,
)
from index.text.identification import Detector
from index.words.vocabulary import by_frequency, training_words

DEFAULT_CLEANING, DEFAULT_OPTIONS = Cleaning(), Options()


@dataclass(frozen=True)
class Plan:
    """What to build: the sentences of a corpus, after those of the `previous` version that `base` names.

    `skipped` sentences of earlier files as in the manifest; `own_ids` as in `change_index`. `job`: who asks;
    a version that was made for the same job is the result, and nothing is built.
    """

    corpus: Corpus
    cleaning: Cleaning = DEFAULT_CLEANING
    options: Options = DEFAULT_OPTIONS
    previous: dict[str, PreviousVersion] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    own_ids: bool = False
    base: str | None = None
    job: str | None = None


def build_index(
    bundle: Bundle,
    corpora: Mapping[str, Path] | Sequence[Source],
    out: Path,
    *,
    threads: int = 1,
    cleaning: Cleaning = DEFAULT_CLEANING,
    options: Options = DEFAULT_OPTIONS,
    ray: str | None = None,
    job: str | None = None,
) -> IndexManifest:
    """Build and publish a version of the index `out` from corpus files; return its manifest.

    `corpora`: files by language, or sources. `job`: as in `Plan`. `ray`: the cluster that encodes, HOST:PORT,
    or auto for that of this machine; by default processes of this machine do. Raises UsageError,
    UnknownLanguageError for a language that the bundle does not know, CorpusError for a file that cannot be
    read or aligned, BusyError while another build of `out` runs, BundleError if `out` cannot be written.
    """
    if not corpora:
        raise UsageError("no corpus: give at least one, such as --corpus en=sentences.en.txt")
    if isinstance(corpora, Mapping):
        corpora = [Source(path, code) for code, path in corpora.items()]
    if options.aligned:
        corpora = [
            replace(source, format="moses") if format_of(source).plain else source for source in corpora
        ]
    corpus = Corpus(corpora, bundle.manifest.languages, bundle.name)
    return run_plan(bundle, Plan(corpus, cleaning, options, job=job), out, threads, ray)


def run_plan(bundle: Bundle, plan: Plan, out: Path, threads: int, ray: str | None = None) -> IndexManifest:
    """Build and publish a plan; return the manifest. Raises what `build_index` does, and OutdatedError."""
    if plan.options.store:
        from index.vectors.milvus import connect  # pymilvus is an extra

        connect(plan.options.store).call("list_collections")
    with building(out) as work:
        if existing := made_before(out, plan.base, plan.job):
            return existing
        # One thread, so that the vectors do not depend on the number of cores.
        job = BuildJob(work, parts_of(work), bundle, TextEncoder(bundle), threads)
        return publish(out, work, _Build(job, plan, ray).run(next_version(out)))


def made_before(out: Path, base: str | None, job: str | None) -> IndexManifest | None:
    """The version that was made for the same job, if there is one. The caller holds the lock.

    Raises OutdatedError if `base`, the version to change, is no longer served.
    """
    if job and (existing := made_by(out, job)):
        return existing
    if base and base != current(out):
        raise OutdatedError(f"{out}: another version is served now: repeat the command")
    return None


class _Build:
    """One run of the job, whose stages leave files."""

    def __init__(self, job: BuildJob, plan: Plan, ray: str | None) -> None:
        self.job, self.plan, self.ray = job, plan, ray
        self.entries: dict[str, LanguageEntry] = {}

    def run(self, version: str) -> IndexManifest:
        """Run every stage; return the manifest of what is in the work folder."""
        job, plan = self.job, self.plan
        shutil.copytree(job.bundle.folder, job.work / ENCODER_FOLDER)
        verify(job.work / ENCODER_FOLDER, job.bundle.manifest.files)
        given = {source.language for source in plan.corpus.sources}
        likely = [code for code in (*given, *plan.previous) if code] if None not in given else []
        trained = detector_of(job.encoder, {})
        with self._pool(Detector(trained.languages, trained.table, likely)) as pool:
            self.entries = read_corpus(
                job, plan.corpus, plan.cleaning, pool, plan.previous, own_ids=plan.own_ids
            )
            counted = {code: word_counts(job, code, pool) for code in self.entries}
        self._index_sentences()
        self._index_words(counted)
        detector = detector_of(job.encoder, counted, trained)
        np.save(job.work / DETECTOR, detector.table, allow_pickle=False)
        manifest = IndexManifest(
            version=version,
            base=plan.base,
            job=plan.job,
            created=datetime.now(UTC),
            model=job.bundle.name,
            dimension=job.encoder.dimension,
            confidence=Confidence.of_encoder(job.bundle.manifest.calibration),
            options=plan.options,
            languages=self.entries,
            detects=detector.languages,
            cleaning=plan.cleaning,
            skipped={**plan.skipped, **plan.corpus.skipped},
        )
        manifest = with_quality(job, manifest, known=plan.options.aligned)
        return move_to_store(job, manifest) if plan.options.store else manifest

    def _pool(self, detector: Detector) -> EncodingPool:
        """The pool that encodes, a context manager; every kind of pool gives the same bytes."""
        if self.ray is None:
            return EncodingPool(self.job, detector)
        from index.build.ray import RayPool  # Ray is an extra

        return RayPool(self.job, detector, self.ray)

    def _index_sentences(self) -> None:
        """Write the vector index and the neighbourhood means of each language's sentences."""
        sizes = {code: entry.sentences for code, entry in self.entries.items()}
        vectors = {code: vectors_of(self.job, code, size) for code, size in sizes.items()}
        settings = write_indexes(self.job, "", vectors, self.plan.options.factory)
        write_neighbourhoods(self.job, "", sizes, settings, own=False)
        for code, search in settings.items():
            self._update(code, search=search)

    def _index_words(self, counted: Mapping[str, Counter[str]]) -> None:
        """Choose the most frequent words of corpora and training, and write their vector indexes."""
        chosen = {
            code: by_frequency(words + training_words(self.job.bundle, code), MOST_WORDS)
            for code, words in counted.items()
        }
        sentences = {code: entry.sentences for code, entry in self.entries.items()}
        vectors = write_words(self.job, chosen, sentences)
        settings = write_indexes(self.job, ".words", vectors)
        sizes = {code: len(words) for code, words in chosen.items()}
        write_neighbourhoods(self.job, ".words", sizes, settings, own=True)
        for code, words in sizes.items():
            self._update(code, words=words, word_search=settings[code])

    def _update(self, code: str, **fields: object) -> None:
        """Set fields of a language's entry in the manifest."""
        self.entries[code] = self.entries[code].model_copy(update=fields)
