"""The batch job: plain text files and an encoder bundle to a published version of an index.

Vectors and neighbourhood means, the long parts, are written beside their place, flushed and renamed, and not
computed again where they are there: so a build that died goes on where it was.
"""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index.bundle import Bundle
from index.corpora.txt import read_txt
from index.detect import token_table
from index.encoder import TextEncoder, Vectors
from index.errors import BundleError, CorpusError, UnknownLanguageError, UsageError
from index.files import fsync, fsync_tree, sha256
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


@dataclass
class Corpus:
    """A language's sentences, each once, with what was left out; `ids` are LANG:LINE, from 1."""

    ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    lines: int = 0
    empty: int = 0
    duplicates: int = 0


def read_corpus(language: str, path: Path) -> Corpus:
    """Read a plain text file; empty lines and exact repetitions are counted and left out."""
    corpus = Corpus()
    seen: set[str] = set()
    for number, text in read_txt(path):
        corpus.lines = number
        if not text:
            corpus.empty += 1
        elif text in seen:
            corpus.duplicates += 1
        else:
            seen.add(text)
            corpus.ids.append(f"{language}:{number}")
            corpus.texts.append(text)
    if not corpus.texts:
        raise CorpusError(f"{path}: no sentence in it: give a file with one sentence a line")
    return corpus


def build_index(
    bundle: Bundle, corpora: Mapping[str, Path], out: Path, *, threads: int = 1, batch_size: int = 64
) -> IndexManifest:
    """Build and publish a version of the index `out` from one file a language; returns its manifest.

    Raises UnknownLanguageError for a language that the bundle does not know, CorpusError for a file that
    cannot be read, UsageError while another build of `out` runs, BundleError if `out` cannot be written.
    """
    check_languages(bundle, corpora)
    key = build_key(bundle, corpora)
    try:
        return _build(bundle, corpora, out, key, threads, batch_size)
    except OSError as error:
        raise BundleError(
            f"{out}: the build stopped ({error}): free space or rights, then repeat it"
        ) from error


def _build(
    bundle: Bundle, corpora: Mapping[str, Path], out: Path, key: str, threads: int, batch_size: int
) -> IndexManifest:
    with building(out, key) as work:
        if finished := unserved(out, key):
            work.rmdir()
            serve(out, finished)
            return read_manifest(out / VERSIONS / finished, IndexManifest, "a version of an index")
        return _Build(bundle, corpora, work, threads, batch_size).run(out)


def check_languages(bundle: Bundle, corpora: Mapping[str, Path]) -> None:
    """UnknownLanguageError unless the bundle knows every language; UsageError without any."""
    known = bundle.manifest.languages
    if not corpora:
        raise UsageError("no corpus: give at least one, such as --corpus en=sentences.en.txt")
    for code in corpora:
        if code not in known:
            raise UnknownLanguageError(f"{bundle.name} does not know {code!r}; it knows: {', '.join(known)}")


def build_key(bundle: Bundle, corpora: Mapping[str, Path]) -> str:
    """The SHA-256 of all that a version is made from."""
    try:
        texts = {code: sha256(path) for code, path in corpora.items()}
    except OSError as error:
        raise CorpusError(f"{error.filename}: cannot be read ({error.strerror})") from error
    files = {name: entry.sha256 for name, entry in sorted(bundle.manifest.files.items())}
    return hashlib.sha256(json.dumps([FORMAT, bundle.name, files, list(texts.items())]).encode()).hexdigest()


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

    def __init__(
        self, bundle: Bundle, corpora: Mapping[str, Path], work: Path, threads: int, batch_size: int
    ) -> None:
        self.bundle, self.corpora, self.work = bundle, corpora, work
        self.threads, self.batch_size = threads, batch_size
        self.encoder = TextEncoder(bundle, threads=threads)
        self.counts: dict[str, Counter[str]] = {}
        self.entries: dict[str, LanguageEntry] = {}

    def run(self, out: Path) -> IndexManifest:
        self._copy_bundle()
        for code, path in self.corpora.items():
            self._language(code, read_corpus(code, path))
        sizes = {code: entry.sentences for code, entry in self.entries.items()}
        self._hubness("", sizes, "sentences")
        alignment = self._words()
        sizes = {code: entry.words for code, entry in self.entries.items()}
        self._hubness(".words", sizes, "words")
        detects = self._detector()
        return publish(out, self.work, self._manifest(next_version(out), alignment, detects))

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
        )

    def _copy_bundle(self) -> None:
        target = self.work / ENCODER
        if not target.exists():
            with making(target) as draft:
                shutil.rmtree(draft, ignore_errors=True)
                shutil.copytree(self.bundle.folder, draft)
                fsync_tree(draft)

    def _language(self, code: str, corpus: Corpus) -> None:
        self.counts[code] = Counter(word for text in corpus.texts for word in words(text, code))
        self.counts[code] += training_words(self.bundle, code)
        self.entries[code] = LanguageEntry(
            sentences=len(corpus.texts),
            words=len(self.counts[code]),
            lines=corpus.lines,
            empty=corpus.empty,
            duplicates=corpus.duplicates,
        )
        with making(self.work / f"{code}.arrow") as draft:
            write_sentences(draft, corpus.ids, corpus.texts)
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

    def _detector(self) -> tuple[str, ...]:
        counts = {code: training_words(self.bundle, code) for code in self.bundle.manifest.languages}
        counts = {code: found for code, found in {**counts, **self.counts}.items() if found}
        tokens = {code: token_counts(self.encoder, found) for code, found in counts.items()}
        tokens = {code: found for code, found in tokens.items() if found.any()}
        with making(self.work / DETECTOR) as draft:
            table = np.stack(list(tokens.values())) if tokens else np.zeros((0, self.encoder.vocabulary))
            _save(draft, token_table(table))
        return tuple(tokens)


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
