"""The batch job: corpus files and an encoder bundle to a published version of an index.

Vectors and neighbourhood means, the long parts, are written beside their place, flushed and renamed, and not
computed again where they are there: so a build that died goes on where it was.
"""

import hashlib
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index.bundle import Bundle
from index.cleaning import Cleaning
from index.corpora.formats import Source, format_of
from index.corpus import Corpus, by_language, read_corpus, sources_of
from index.detect import Detector, token_table
from index.encoder import TextEncoder, Vectors
from index.errors import BundleError, CorpusError
from index.files import fsync, fsync_tree, sha256
from index.groups import write_groups
from index.hubness import NEIGHBOURS
from index.manifest import FORMAT, read_manifest
from index.procrustes import Alignment, align
from index.progress import Progress
from index.sentences import write_sentences
from index.text import words
from index.texts import write_table
from index.vectors import VectorIndex, write_vectors
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
from index.vocabulary import by_frequency, token_counts, training_words

CHUNK = 8192  # sentences tokenised at a time
ROUNDS = 20  # of word alignment, at most
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


@contextmanager
def making(path: Path) -> Iterator[Path]:
    """Give a path to write to; what is there afterwards is flushed and takes the place of `path` at once."""
    draft = path.with_name(f".{path.name}")
    yield draft
    fsync(draft)
    draft.replace(path)
    fsync(path.parent)


class _Build:
    """One run of the job; each step leaves files in `work`."""

    def __init__(self, bundle: Bundle, plan: Plan, work: Path, threads: int, batch_size: int) -> None:
        self.bundle, self.plan, self.work = bundle, plan, work
        self.threads, self.batch_size = threads, batch_size
        self.encoder = TextEncoder(bundle, threads=threads)
        self.counts: dict[str, Counter[str]] = {}
        self.entries: dict[str, LanguageEntry] = {}

    def run(self, out: Path) -> IndexManifest:
        self._copy_bundle()
        counts = {code: training_words(self.bundle, code) for code in self.bundle.manifest.languages}
        detector = self._detector(counts)
        for code in self.plan.sources:
            self._language(code, self._read(code, detector))
        sizes = {code: entry.sentences for code, entry in self.entries.items()}
        self._hubness("", sizes, "sentences")
        alignment = self._words()
        sizes = {code: entry.words for code, entry in self.entries.items()}
        self._hubness(".words", sizes, "words")
        detector = self._detector({**counts, **self.counts})
        with making(self.work / DETECTOR) as draft:
            _save(draft, detector.table)
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
        target = self.work / f"{code}.faiss"
        if not target.exists():
            with making(target) as draft:
                write_vectors(draft, self._encode(code, corpus.texts))

    def _encode(self, code: str, texts: list[str]) -> Vectors:
        found = np.empty((len(texts), self.encoder.dimension), np.float32)
        with Progress(len(texts), unit="sentences", label=f"encode {code}") as bar:
            for start in range(0, len(texts), CHUNK):
                chunk = texts[start : start + CHUNK]
                found[start : start + len(chunk)] = self.encoder.encode(chunk, self.batch_size, bar.advance)
        return found

    def _hubness(self, suffix: str, sizes: Mapping[str, int], unit: str) -> None:
        """Write each language's mean similarity to its nearest neighbours in each other language."""
        opened = {
            code: VectorIndex.open(
                self.work / f"{code}{suffix}.faiss", size, self.encoder.dimension, self.threads
            )
            for code, size in sizes.items()
        }
        total = sum(sizes.values()) * (len(sizes) - 1)
        with Progress(total, unit=unit, label="neighbourhoods") as bar:
            for code, rows in opened.items():
                others = [other for name, other in opened.items() if name != code]
                target = self.work / f"{code}{suffix}.hubness.npy"
                if target.exists():
                    bar.advance(rows.count * len(others))
                    continue
                with making(target) as draft:
                    _save(draft, _neighbourhoods(rows, others, bar))

    def _words(self) -> Alignment:
        vocabulary = {code: by_frequency(counts) for code, counts in self.counts.items()}
        vectors = {code: self.encoder.word_vectors(found, code) for code, found in vocabulary.items()}
        with Progress(ROUNDS, unit="rounds", label="align words") as bar:
            alignment = align(vectors, iterations=ROUNDS, progress=bar.advance)
        for code, rotation in alignment.rotations.items():
            aligned = vectors[code] @ rotation
            with making(self.work / f"{code}.words.faiss") as draft:
                write_vectors(draft, aligned)
            with making(self.work / f"{code}.words.rotation.npy") as draft:
                _save(draft, rotation)
            with making(self.work / f"{code}.words.arrow") as draft:
                counts = [self.counts[code][word] for word in vocabulary[code]]
                write_table(draft, {"word": vocabulary[code], "count": counts})
        return alignment

    def _detector(self, counts: Mapping[str, Counter[str]]) -> Detector:
        """Of the languages that have words."""
        tokens = {code: token_counts(self.encoder, found) for code, found in counts.items() if found}
        tokens = {code: found for code, found in tokens.items() if found.any()}
        table = np.stack(list(tokens.values())) if tokens else np.zeros((0, self.encoder.vocabulary))
        return Detector(tuple(tokens), token_table(table))


def _neighbourhoods(rows: VectorIndex, others: list[VectorIndex], bar: Progress) -> NDArray[np.float32]:
    """(n, languages) float32."""
    means = np.empty((rows.count, len(others)), np.float32)
    done = 0
    for block in rows.blocks():
        for column, other in enumerate(others):
            means[done : done + len(block), column] = other.neighbourhood_means(block, NEIGHBOURS)
            bar.advance(len(block))
        done += len(block)
    return means


def _save(path: Path, values: NDArray[np.float32]) -> None:
    # Through a file object, since numpy would add .npy to the name of a draft.
    with path.open("wb") as file:
        np.save(file, values, allow_pickle=False)


def _summary(alignment: Alignment) -> WordAlignment:
    return WordAlignment(
        iterations=alignment.iterations,
        converged=alignment.converged,
        pull=alignment.pull if np.isfinite(alignment.pull) else None,
        anchors={f"{a}-{b}": count for (a, b), count in alignment.anchors.items()},
    )
