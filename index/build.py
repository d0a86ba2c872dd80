"""The batch job: corpus files and an encoder bundle to a published version of an index.

Vectors and neighbourhood means, the long parts, are written beside their place, flushed and renamed, and not
computed again where they are there: so a build that died goes on where it was.
"""

import hashlib
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from index.bundle import Bundle
from index.cleaning import Cleaning
from index.corpora.formats import Source, format_of
from index.corpus import Corpus, by_language, read_corpus, sources_of
from index.detect import Detector
from index.encoder import TextEncoder, Vectors
from index.errors import BundleError, CorpusError
from index.files import fsync_tree, sha256
from index.groups import write_groups
from index.job import Job, making, save_array
from index.lexicon import make_detector, write_words
from index.manifest import FORMAT, read_manifest
from index.procrustes import Alignment
from index.progress import Progress
from index.sentences import write_sentences
from index.structures import write_neighbourhoods, write_structure
from index.text import words
from index.versions import (
    DETECTOR,
    ENCODER,
    VERSIONS,
    CleaningEntry,
    IndexManifest,
    LanguageEntry,
    WordAlignment,
    building,
    next_version,
    publish,
    serve,
    unserved,
)
from index.vocabulary import training_words

CHUNK = 8192  # sentences tokenised at a time
EVERY_RULE = Cleaning()


@dataclass(frozen=True)
class Plan:
    """What is built: the files of each language and the rules of cleaning; `skipped` as in the manifest."""

    sources: Mapping[str, Sequence[Source]]
    skipped: Mapping[str, int]
    cleaning: Cleaning

    def entry(self) -> CleaningEntry:
        rules = self.cleaning
        return CleaningEntry(off=tuple(sorted(rules.off)), longest=rules.longest, likeness=rules.likeness)


def build_index(
    bundle: Bundle,
    corpora: Mapping[str, Path] | Sequence[Source],
    out: Path,
    *,
    threads: int = 1,
    batch_size: int = 64,
    cleaning: Cleaning = EVERY_RULE,
) -> IndexManifest:
    """Build and publish a version of the index `out` from files by language, or sources; its manifest.

    Raises UnknownLanguageError for a language that the bundle does not know, CorpusError for a file that
    cannot be read, UsageError while another build of `out` runs, BundleError if `out` cannot be written.
    """
    known = bundle.manifest.languages
    plan = Plan(*by_language(sources_of(corpora), known, bundle.name), cleaning)
    key = build_key(bundle, plan)
    try:
        return _build(bundle, plan, out, key, threads, batch_size)
    except (OSError, sqlite3.Error) as error:
        raise BundleError(
            f"{out}: the build stopped ({error}): free space or rights, then repeat it"
        ) from error


def _build(bundle: Bundle, plan: Plan, out: Path, key: str, threads: int, batch_size: int) -> IndexManifest:
    with building(out, key) as work:
        if finished := unserved(out, key):
            work.rmdir()
            serve(out, finished)
            return read_manifest(out / VERSIONS / finished, IndexManifest, "a version of an index")
        return _Build(bundle, plan, work, threads, batch_size).run(out)


def build_key(bundle: Bundle, plan: Plan) -> str:
    """The SHA-256 of all that a version is made from."""
    try:
        texts = {
            code: [(source.path.name, format_of(source), sha256(source.path)) for source in sources]
            for code, sources in plan.sources.items()
        }
    except OSError as error:
        raise CorpusError(f"{error.filename}: cannot be read ({error.strerror})") from error
    rules = plan.entry().model_dump_json()
    files = {name: entry.sha256 for name, entry in sorted(bundle.manifest.files.items())}
    return hashlib.sha256(
        json.dumps([FORMAT, bundle.name, files, list(texts.items()), rules]).encode()
    ).hexdigest()


class _Build:
    """One run of the job; each step leaves files in `work`."""

    def __init__(self, bundle: Bundle, plan: Plan, work: Path, threads: int, batch_size: int) -> None:
        self.bundle, self.plan, self.work = bundle, plan, work
        self.encoder = TextEncoder(bundle, threads=threads)
        self.job = Job(work, bundle, self.encoder, threads, batch_size)
        self.counts: dict[str, Counter[str]] = {}
        self.entries: dict[str, LanguageEntry] = {}

    def run(self, out: Path) -> IndexManifest:
        self._copy_bundle()
        counts = {code: training_words(self.bundle, code) for code in self.bundle.manifest.languages}
        detector = make_detector(self.encoder, counts)
        for code in self.plan.sources:
            self._language(code, self._read(code, detector))
        sizes = {code: entry.sentences for code, entry in self.entries.items()}
        write_neighbourhoods(self.job, "", sizes, "sentences")
        alignment = write_words(self.job, self.counts)
        sizes = {code: entry.words for code, entry in self.entries.items()}
        write_neighbourhoods(self.job, ".words", sizes, "words")
        detector = make_detector(self.encoder, {**counts, **self.counts})
        save_array(self.work / DETECTOR, detector.table)
        return publish(out, self.work, self._manifest(next_version(out), alignment, detector.languages))

    def _manifest(self, version: str, alignment: Alignment, detects: tuple[str, ...]) -> IndexManifest:
        return IndexManifest(
            version=version,
            created=datetime.now(UTC),
            model=self.bundle.name,
            dimension=self.encoder.dimension,
            calibrated=self.bundle.manifest.calibration is not None,
            key=self.work.name,
            languages=self.entries,
            alignment=_summary(alignment),
            detects=detects,
            cleaning=self.plan.entry(),
            skipped=dict(self.plan.skipped),
        )

    def _copy_bundle(self) -> None:
        target = self.work / ENCODER
        if not target.exists():
            with making(target) as draft:
                shutil.rmtree(draft, ignore_errors=True)
                shutil.copytree(self.bundle.folder, draft)
                fsync_tree(draft)

    def _read(self, code: str, detector: Detector) -> Corpus:
        def foreign(texts: Sequence[str]) -> list[bool]:
            return [detector.foreign(tokens, code) for tokens in self.encoder.tokens(texts)]

        known = self.bundle.manifest.languages
        with (
            making(self.work / f"{code}.dropped.tsv") as draft,
            draft.open("w", encoding="utf-8", newline="") as record,
        ):
            return read_corpus(code, self.plan.sources[code], known, self.plan.cleaning, foreign, record)

    def _language(self, code: str, corpus: Corpus) -> None:
        self.counts[code] = Counter(word for text in corpus.texts for word in words(text, code))
        self.counts[code] += training_words(self.bundle, code)
        cleaned = corpus.cleaned
        with making(self.work / f"{code}.arrow") as draft:
            write_sentences(draft, corpus.ids, corpus.texts, corpus.metadata)
        with making(self.work / f"{code}.groups.arrow") as draft:
            links = write_groups(draft, cleaned.rows, cleaned.groups)
        self.entries[code] = LanguageEntry(
            sentences=len(corpus.texts),
            words=len(self.counts[code]),
            lines=cleaned.lines,
            changed=cleaned.changed,
            dropped={reason: count for reason, count in cleaned.dropped.items()},
            links=links,
        )
        if not (self.work / f"{code}.faiss").exists():
            write_structure(self.job, code, self._encode(code, corpus.texts))

    def _encode(self, code: str, texts: list[str]) -> Vectors:
        found = np.empty((len(texts), self.encoder.dimension), np.float32)
        with Progress(len(texts), unit="sentences", label=f"encode {code}") as bar:
            for start in range(0, len(texts), CHUNK):
                chunk = texts[start : start + CHUNK]
                found[start : start + len(chunk)] = self.encoder.encode(
                    chunk, self.job.batch_size, bar.advance
                )
        return found


def _summary(alignment: Alignment) -> WordAlignment:
    return WordAlignment(
        iterations=alignment.iterations,
        converged=alignment.converged,
        pull=alignment.pull if np.isfinite(alignment.pull) else None,
        anchors={f"{a}-{b}": count for (a, b), count in alignment.anchors.items()},
    )
