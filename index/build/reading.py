"""Stage of a build: the sentences of a language, cleaned and encoded at once, to files in bounded memory.

While processes encode the next shards, this one cleans, gives each sentence its id and writes LANG.arrow,
LANG.groups.arrow, LANG.dropped.tsv and LANG.vectors.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import numpy as np
import pyarrow as pa

from index.arrays import Vectors
from index.build.cleaning import Cleaned, Cleaner, CleaningBatch, compared
from index.build.corpus import Corpus, Ids, columns_of
from index.build.encoding import BuildJob, EncodingPool, Shard, Shards
from index.build.previous_version import KeptRows, PreviousVersion
from index.errors import CorpusError
from index.formats.sentence import Sentence
from index.languages import language
from index.progress import Progress
from index.storage.groups import write_groups
from index.storage.index_manifest import LanguageEntry
from index.storage.options import Cleaning
from index.storage.tables import SENTENCE_COLUMNS, writing_table
from index.text.identification import clear_language
from index.text.pre_tokens import StringArray

SHARD_LINES = 8192  # lines of a corpus that are cleaned and encoded together
SHARD_CHARACTERS = 16 << 20  # of texts and metadata, above which a shard ends early
TEXTS_DETECTED = 200  # foreign texts in which a build looks for their language


def vectors_of(job: BuildJob, code: str, rows: int) -> Vectors:
    """The vectors (rows, d) of a language's sentences, memory-mapped."""
    return np.memmap(job.parts / f"{code}.vectors", np.float32, "r", shape=(rows, job.encoder.dimension))


def texts_of(job: BuildJob, code: str, size: int, end: int | None = None) -> Iterator[StringArray]:
    """Yield the texts of the rows up to but not including `end`, at most `size` at a time."""
    begin = 0
    with pa.memory_map(str(job.work / f"{code}.arrow")) as source, pa.ipc.open_file(source) as file:
        for number in range(file.num_record_batches):
            column = file.get_batch(number).column("text")
            rows = range(len(column) if end is None else min(end - begin, len(column)))
            for first in rows[::size]:
                yield column.slice(first, min(size, rows.stop - first))
            begin += len(column)


def read_corpus(
    job: BuildJob,
    corpus: Corpus,
    cleaning: Cleaning,
    pool: EncodingPool,
    previous: dict[str, PreviousVersion],
    *,
    own_ids: bool = False,
) -> dict[str, LanguageEntry]:
    """Read, clean and encode a corpus, after the rows that each language keeps of a `previous` version.

    Ids have the name of the file where a language has several files, or had sentences before, unless
    `own_ids`. Returns the entries of the manifest, without words. Raises CorpusError.
    """
    with ExitStack() as files, Progress(corpus.size, unit="bytes", label="encode") as bar:
        writers: dict[str, SentenceWriter] = {}

        def writer(code: str) -> SentenceWriter:
            sources = corpus.may_have(code)
            by_file = not own_ids and (code in previous or len(sources) > 1)
            ids = Ids(code, sources, by_file=by_file, strict=own_ids or code in previous)
            writers[code] = SentenceWriter(job, code, cleaning, pool, ids, bar, files)
            return writers[code]

        for code, kept in previous.items():
            writer(code).keep(kept, more=bool(corpus.may_have(code)))
        for file, sentence in corpus.sentences():
            (writers.get(sentence.language) or writer(sentence.language)).add(file, sentence)
        for source in corpus.sources:  # an empty file has its language, too, of which nothing is kept
            if source.language is not None and source.language not in writers:
                writer(source.language)
        entries = {code: found.finish(corpus) for code, found in writers.items()}
        bar.advance(max(0, bar.total - bar.done))
        return entries


class SentenceWriter:
    """Writes the sentences of one language, shard by shard, to files that `files` closes."""

    def __init__(
        self,
        job: BuildJob,
        code: str,
        cleaning: Cleaning,
        pool: EncodingPool,
        ids: Ids,
        bar: Progress,
        files: ExitStack,
    ) -> None:
        self.job, self.code, self.pool, self.ids, self.bar = job, code, pool, ids, bar
        known = job.bundle.manifest.languages
        self.check_language = "language" not in cleaning.off and code in known
        self.shard: list[tuple[str, Sentence]] = []
        self.characters = 0  # of the shard
        self.pending: deque[Callable[[], None]] = deque()  # what finishes each shard that was begun
        self.foreign: list[str] = []  # the first texts that were clearly in another language
        record = (job.work / f"{code}.dropped.tsv").open("w", encoding="utf-8", newline="")
        self.cleaner = files.enter_context(Cleaner(cleaning, files.enter_context(record)))
        self.table = files.enter_context(writing_table(job.work / f"{code}.arrow", SENTENCE_COLUMNS))
        files.callback(ids.close)
        self.shards = files.enter_context(Shards(job, code, pool))

    def add(self, file: str, sentence: Sentence) -> None:
        """Add the next sentence of the corpus."""
        self.shard.append((file, sentence))
        self.characters += len(sentence.text) + 1
        if sentence.metadata:
            self.characters += sum(len(str(value)) for value in sentence.metadata.values())
        if len(self.shard) == SHARD_LINES or self.characters > SHARD_CHARACTERS:
            self._begin()

    def keep(self, previous: PreviousVersion, *, more: bool) -> None:
        """Keep rows of a previous version, before any are added; `more`: others will be added."""
        self.cleaner.resume(previous)
        for kept in previous.blocks():
            shard = self.shards.begin([kept.texts[place] for place in kept.changed], False)
            self.pending.append(partial(self._retain, previous, kept, shard, more))
            self._wait(self.pool.ahead)
        self._wait(0)

    def finish(self, corpus: Corpus) -> LanguageEntry:
        """Write what is left; return the language's entry of the manifest. CorpusError if nothing is kept."""
        if self.shard:
            self._begin()
        self._wait(0)
        done = self.cleaner.done
        resembles = self._resembled() if done.dropped["language"] > done.lines / 2 else None
        if not done.kept:
            raise CorpusError(self._nothing_kept(corpus, done, resembles))
        links = write_groups(self.job.work / f"{self.code}.groups.arrow", done.rows, done.groups)
        self.shards.close()
        return LanguageEntry(
            sentences=done.kept,
            words=0,
            lines=done.lines,
            changed=done.changed,
            dropped=dict(done.dropped),
            links=links,
            resembles=resembles,
        )

    def _begin(self) -> None:
        batch = self.cleaner.begin(self.shard)
        shard = self.shards.begin(batch.wanted, self.check_language)
        self.pending.append(partial(self._keep, batch, shard, self.characters))
        self._wait(self.pool.ahead)
        self.shard, self.characters = [], 0

    def _wait(self, ahead: int) -> None:
        """Finish shards, the oldest first, until no more than `ahead` are left."""
        while len(self.pending) > ahead:
            self.pending.popleft()()

    def _keep(self, batch: CleaningBatch, shard: Shard, characters: int) -> None:
        foreign = shard.result().foreign
        if len(self.foreign) < TEXTS_DETECTED and any(foreign):
            self.foreign += [text for text, other in zip(batch.wanted, foreign, strict=True) if other]
        kept = list(self.cleaner.finish(batch, dict(zip(batch.wanted, foreign, strict=True))))
        files = [batch.sentences[number][0] for number, _ in kept]
        sentences = [sentence for _, sentence in kept]
        self.table.add(columns_of(self.ids, files, sentences))
        place = {text: row for row, text in enumerate(batch.wanted)}
        self.shards.finish(shard, [place[batch.texts[number]] for number, _ in kept])
        self.bar.advance(characters)

    def _retain(self, previous: PreviousVersion, kept: KeptRows, shard: Shard, more: bool) -> None:
        self.ids.reserve(kept.ids)
        self.cleaner.keep(list(map(compared, kept.texts, kept.metadata)), more=more)
        self.table.add({"id": kept.ids, "text": kept.texts, "metadata": kept.metadata})
        vectors = previous.vectors.reconstruct(kept.old)
        vectors[kept.changed] = shard.result().vectors
        self.shards.add(vectors)
        self.cleaner.done.rows.extend(kept.rows)
        self.cleaner.done.groups.extend(kept.groups)

    def _resembled(self) -> str | None:
        """The language that most foreign texts seem to be in; None if that is not clear."""
        tokens = self.job.encoder.tokens(self.foreign[:TEXTS_DETECTED])
        chances = map(self.pool.detector.chances, tokens)
        codes = Counter(code for row in chances if (code := clear_language(row)) is not None)
        return codes.most_common(1)[0][0] if codes else None

    def _nothing_kept(self, corpus: Corpus, done: Cleaned, resembles: str | None) -> str:
        sources = corpus.may_have(self.code)
        files = ", ".join(str(source.path) for source in sources)
        for source in sources:
            if not done.lines and source.bad and (unit := source.bad.first_of(source.path)):
                return f"{source.path}, line {unit.line}: {unit.reason}"
        if resembles:
            return (
                f"{files}: these lines look like {language(resembles).name}, not {language(self.code).name}: "
                "are languages swapped? (--keep language keeps them)"
            )
        counts = ", ".join(f"{count} {reason}" for reason, count in done.dropped.items())
        told = f" that is kept ({counts}): see --keep" if counts else ": give one sentence per line"
        return f"{files}: no sentence of {self.code} in it{told}"
