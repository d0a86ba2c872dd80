"""Stage of a build: the corpus of a language, read, cleaned and encoded at once, to files in bounded memory.

While processes encode the next shards, this one cleans, gives each sentence its id and writes LANG.arrow,
LANG.groups.arrow, LANG.dropped.tsv and the parts LANG.vectors and LANG.json; the last is written when all
others are complete.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from index.build.cleaning import Batch, Cleaned, Cleaner, Cleaning
from index.build.corpus import CorpusReader, Ids, metadata_of
from index.build.job import Job, making
from index.build.previous_version import KeptRows, PreviousVersion
from index.build.process_pool import ProcessPool, result_of
from index.build.shards import SHARD_LINES, Shard, Shards
from index.encoder.vectors import Vectors
from index.errors import CorpusError
from index.formats.sentence import Sentence
from index.languages import language
from index.progress import Progress
from index.storage.files import replace_text
from index.storage.groups import Links
from index.storage.index_manifest import LanguageEntry
from index.storage.tables import SENTENCE_COLUMNS, writing_table
from index.text.identification import clear_language
from index.text.pre_tokens import StringArray

SHARD_CHARACTERS = 16 << 20  # of texts and metadata, above which a shard ends early
TEXTS_DETECTED = 200  # foreign texts in which a build looks for their language


def read_language(
    job: Job, reader: CorpusReader, cleaning: Cleaning, pool: ProcessPool, base: PreviousVersion | None = None
) -> LanguageEntry:
    """Read, clean and encode the files of a language, after the rows that it keeps of the version `base`.

    Returns its entry of the manifest, without `words`. Raises CorpusError.
    """
    finished = job.part(f"{reader.language}.json")
    if finished.exists():
        return LanguageEntry.model_validate_json(finished.read_bytes())
    entry = _Reading(job, reader, cleaning, pool, base).run()
    replace_text(finished, entry.model_dump_json())
    return entry


def vectors_of(job: Job, code: str, rows: int) -> Vectors:
    """The vectors (rows, d) that `read_language` wrote, memory-mapped."""
    vectors: Vectors = np.memmap(
        job.part(f"{code}.vectors"), np.float32, "r", shape=(rows, job.encoder.dimension)
    )
    return vectors


def texts_of(job: Job, code: str, size: int, start: int = 0, end: int | None = None) -> Iterator[StringArray]:
    """Yield the texts of rows `start` up to but not including `end`, at most `size` at a time."""
    begin = 0
    with pa.memory_map(str(job.path(f"{code}.arrow"))) as source, pa.ipc.open_file(source) as file:
        for number in range(file.num_record_batches):
            column = file.get_batch(number).column("text")
            rows = range(max(start - begin, 0), len(column) if end is None else min(end - begin, len(column)))
            for first in rows[::size]:
                yield column.slice(first, min(size, rows.stop - first))
            begin += len(column)


def lines_of(job: Job, code: str) -> NDArray[np.int64]:
    """(rows,) the line number of each sentence in its text file, from 1."""
    with pa.memory_map(str(job.path(f"{code}.arrow"))) as source, pa.ipc.open_file(source) as file:
        ids = file.read_all().column("id").to_pylist()
    return np.array([int(name.rpartition(":")[2]) for name in ids], np.int64)


class _Reading:
    """The reading of one language; `run` does it."""

    def __init__(
        self,
        job: Job,
        reader: CorpusReader,
        cleaning: Cleaning,
        pool: ProcessPool,
        base: PreviousVersion | None,
    ) -> None:
        self.job, self.reader, self.cleaning, self.pool, self.base = job, reader, cleaning, pool, base
        self.code = reader.language
        self.pending: deque[Callable[[], None]] = deque()  # what finishes each shard that was begun
        self.foreign: list[str] = []  # the first texts that were clearly in another language

    def run(self) -> LanguageEntry:
        with ExitStack() as files:
            record = files.enter_context(making(self.job.path(f"{self.code}.dropped.tsv")))
            table = files.enter_context(making(self.job.path(f"{self.code}.arrow")))
            lines = files.enter_context(record.open("w", encoding="utf-8", newline=""))
            self.table = files.enter_context(writing_table(table, SENTENCE_COLUMNS))
            self.cleaner = files.enter_context(Cleaner(self.cleaning, lines))
            self.ids = files.enter_context(Ids(self.reader))
            self.links = files.enter_context(Links(self.job.parts))
            self.shards = files.enter_context(Shards(self.job, self.code, self.pool))
            expected = self.reader.expected + (self.base.left if self.base else 0)
            self.bar = files.enter_context(Progress(expected, unit="sentences", label=f"encode {self.code}"))
            if self.base:
                self._copy(self.base)
            self._read()
            self.shards.close()
            return self._entry()

    def _read(self) -> None:
        check_language = "language" not in self.cleaning.off
        numbered = self.reader.sentences()
        while sentences := _shard_of(numbered):
            batch = self.cleaner.begin(sentences)
            shard = self.shards.begin(batch.wanted, check_language)
            self._wait(partial(self._keep, batch, shard), self.pool.ahead)
        self._wait(None, 0)

    def _copy(self, base: PreviousVersion) -> None:
        """Copy the rows that the language keeps of the version `base`."""
        entry = base.entry
        self.cleaner.resume(base.reasons(), entry.lines, entry.changed, base.record())
        for kept in base.blocks():
            shard = self.shards.begin([kept.texts[place] for place in kept.changed], False)
            self._wait(partial(self._retain, kept, shard), self.pool.ahead)
        self._wait(None, 0)

    def _wait(self, task: Callable[[], None] | None, ahead: int) -> None:
        """Finish shards, the oldest first, until no more than `ahead` are left."""
        if task:
            self.pending.append(task)
        while len(self.pending) > ahead:
            self.pending.popleft()()

    def _keep(self, batch: Batch, shard: Shard) -> None:
        foreign = result_of(shard.encoded).foreign
        if len(self.foreign) < TEXTS_DETECTED:
            self.foreign += [text for text, other in zip(batch.wanted, foreign, strict=True) if other]
        kept = list(self.cleaner.finish(batch, dict(zip(batch.wanted, foreign, strict=True))))
        files = [batch.sentences[number][0] for number, _ in kept]
        sentences = [sentence for _, sentence in kept]
        self.table.add(
            {
                "id": self.ids.take(files, sentences),
                "text": [sentence.text for sentence in sentences],
                "metadata": list(map(metadata_of, files, sentences)),
            }
        )
        place = {text: row for row, text in enumerate(batch.wanted)}
        rows = [place[batch.texts[number]] for number, _ in kept]
        whole = rows == list(range(len(batch.wanted)))
        self.shards.finish(shard, len(rows), lambda vectors: vectors if whole else vectors[rows])
        done = self.cleaner.done
        self.links.add(done.rows, done.groups)
        del done.rows[:], done.groups[:]
        self.bar.advance(len(batch.sentences))

    def _retain(self, kept: KeptRows, shard: Shard) -> None:
        def merged(vectors: Vectors) -> Vectors:
            all_vectors = kept.vectors.copy()
            all_vectors[kept.changed] = vectors
            return all_vectors

        self.ids.reserve(kept.ids)
        self.cleaner.keep(kept.texts, more=bool(self.reader.sources))
        self.table.add({"id": kept.ids, "text": kept.texts, "metadata": kept.metadata})
        self.shards.finish(shard, len(kept.ids), merged)
        self.links.add(kept.rows, kept.groups)
        self.bar.advance(len(kept.ids))

    def _entry(self) -> LanguageEntry:
        done = self.cleaner.done
        resembles = self._resembled() if done.dropped["language"] > done.lines / 2 else None
        if not done.kept:
            raise CorpusError(self._nothing_kept(done, resembles))
        with making(self.job.path(f"{self.code}.groups.arrow")) as draft:
            links = self.links.write(draft)
        return LanguageEntry(
            sentences=done.kept,
            words=0,
            lines=done.lines,
            changed=done.changed,
            dropped={reason: count for reason, count in done.dropped.items()},
            links=links,
            resembles=resembles,
        )

    def _resembled(self) -> str | None:
        """The language that most foreign texts seem to be in; None if that is not clear."""
        tokens = self.job.encoder.tokens(self.foreign[:TEXTS_DETECTED])
        chances = map(self.pool.detector.chances, tokens)
        codes = Counter(code for row in chances if (code := clear_language(row)) is not None)
        return codes.most_common(1)[0][0] if codes else None

    def _nothing_kept(self, done: Cleaned, resembles: str | None) -> str:
        files = ", ".join(str(source.path) for source in self.reader.sources)
        for source in self.reader.sources:
            if not done.lines and source.bad and (unit := source.bad.first_of(source.path)):
                return f"{source.path}, line {unit.line}: {unit.reason}"
        if resembles:
            return (
                f"{files}: these lines look {language(resembles).name}, not {language(self.code).name}: are "
                "languages swapped? (--keep language takes them as they are)"
            )
        return f"{files}: no sentence of {self.code} in it{_dropped_reasons(done)}"


def _shard_of(numbered: Iterator[tuple[str, Sentence]]) -> list[tuple[str, Sentence]]:
    """Take the sentences of the next shard: SHARD_LINES, or fewer if they are long."""
    sentences: list[tuple[str, Sentence]] = []
    characters = 0
    for file, sentence in numbered:
        sentences.append((file, sentence))
        characters += len(sentence.text) + sum(len(str(value)) for value in sentence.metadata.values())
        if len(sentences) == SHARD_LINES or characters > SHARD_CHARACTERS:
            break
    return sentences


def _dropped_reasons(done: Cleaned) -> str:
    counts = ", ".join(f"{count} {reason}" for reason, count in done.dropped.items())
    return f" that is kept ({counts}): see --keep" if counts else ": give a file with one sentence a line"
