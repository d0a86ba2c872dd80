"""Cleaning of a corpus: normalises sentences, drops those that no rule keeps, and counts what was dropped."""

import csv
import json
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

from index.build.duplicates import SeenTexts, TextKeys
from index.build.previous_version import PreviousVersion
from index.formats.sentence import CONTEXT, Sentence, group_number
from index.storage.options import Cleaning, Rule
from index.text.normalisation import clean

Reason = str  # a rule, or empty, or deleted
LONGEST_RECORDED = 1000  # characters of a dropped text
FOREIGN_ROW = -1  # the row noted for texts in another language


def with_context(text: str, metadata: Mapping[str, Any]) -> str:
    """The text that others are compared with: the same one in another context is another string."""
    context = metadata.get(CONTEXT)
    return f"{text}\0{context}" if context and isinstance(context, str) else text


def compared(text: str, metadata: str) -> str:
    """A text that is stored, with its context."""
    return with_context(text, json.loads(metadata)) if f'"{CONTEXT}"' in metadata else text


@dataclass(frozen=True)
class CleaningBatch:
    """A batch between `begin` and `finish`: (file, sentence) pairs and their cleaned `texts`.

    `unfit` is the reason why each is dropped regardless of earlier texts, or None; `wanted` are the distinct
    texts among the others that may be kept. `compared` are the texts with their contexts, and `begun` the
    keys of the new ones.
    """

    sentences: Sequence[tuple[str, Sentence]]
    texts: Sequence[str]
    unfit: Sequence[Reason | None]
    compared: Sequence[str]
    keys: TextKeys
    begun: frozenset[int]
    wanted: Sequence[str]


@dataclass
class Cleaned:
    """The totals of cleaning so far; `rows` and `groups` pair each kept row with the groups it stands for."""

    lines: int = 0
    kept: int = 0
    changed: int = 0  # kept, but normalised
    dropped: Counter[Reason] = field(default_factory=Counter[str])
    rows: "array[int]" = field(default_factory=lambda: array("q"))
    groups: "array[int]" = field(default_factory=lambda: array("q"))


class Cleaner:
    """Cleans the sentences of one language; dropped ones are written to `record`, a TSV with a header.

    Batches are begun and finished in order; between the two their `wanted` texts are identified by language
    (and encoded), while the next batches begin.
    """

    def __init__(self, cleaning: Cleaning, record: TextIO) -> None:
        self.cleaning, self.done = cleaning, Cleaned()
        self.seen = SeenTexts("near" not in cleaning.off)
        off = cleaning.off
        self._longest = None if "long" in off else cleaning.longest
        self._unconfirmed = "unconfirmed" in off  # whether they are kept
        self._begun: set[int] = set()  # keys of wanted texts in batches not finished yet
        self._record = csv.writer(record, delimiter="\t", lineterminator="\n")
        self._record.writerow(["reason", "file", "line", "id", "row", "text"])

    def __enter__(self) -> "Cleaner":
        return self

    def __exit__(self, *_: object) -> None:
        self.seen.close()

    def resume(self, previous: PreviousVersion) -> None:
        """Continue the cleaning of a previous version: its lines, changes, drops by reason and record."""
        self.done.lines, self.done.changed = previous.entry.lines, previous.entry.changed
        self.done.dropped.update(previous.reasons())
        self._record.writerows(previous.record())

    def keep(self, texts: Sequence[str], *, more: bool = True) -> None:
        """Keep texts, with contexts, that were cleaned before as the next rows; `more`: others follow."""
        begin, self.done.kept = self.done.kept, self.done.kept + len(texts)
        if more:
            self.know(list(zip(texts, range(begin, self.done.kept), strict=True)))

    def know(self, rows: Sequence[tuple[str, int]]) -> None:
        """Compare later texts with these, whose rows are given."""
        self.seen.expect(self.seen.keys_of(text for text, _ in rows))
        for text, row in rows:
            self.seen.first(text, row)

    def begin(self, sentences: Sequence[tuple[str, Sentence]]) -> CleaningBatch:
        """Clean the texts of a batch and find those that may be kept."""
        texts = [clean(sentence.text) for _, sentence in sentences]
        compared = [
            with_context(text, sentence.metadata)
            for (_, sentence), text in zip(sentences, texts, strict=True)
        ]
        keys = self.seen.keys_of(compared)
        self.seen.expect(keys)
        unfit = [self._unfit(sentence, text) for (_, sentence), text in zip(sentences, texts, strict=True)]
        fit = [number for number, reason in enumerate(unfit) if reason is None]
        begun = frozenset[int]()
        if "duplicate" not in self.cleaning.off:
            new = self.seen.new(compared[number] for number in fit)
            begun = frozenset(key for key in new if key not in self._begun)
            self._begun |= begun
            first = {new[key] for key in begun}
            fit = [number for number in fit if compared[number] in first or sentences[number][1].is_string]
        wanted = list(dict.fromkeys(texts[number] for number in fit))
        return CleaningBatch(sentences, texts, unfit, compared, keys, begun, wanted)

    def finish(self, batch: CleaningBatch, foreign: Mapping[str, bool]) -> Iterator[tuple[int, Sentence]]:
        """Yield (position in batch, sentence) of those kept; `foreign`: text -> if in another language."""
        self.seen.expect(batch.keys)
        self._begun -= batch.begun
        check_language = "language" not in self.cleaning.off
        rows = zip(batch.sentences, batch.texts, batch.compared, batch.unfit, strict=True)
        for number, ((file, sentence), text, compared, unfit) in enumerate(rows):
            self.done.lines += 1
            reason, row = unfit, None
            if reason is None:
                is_foreign = check_language and not sentence.is_string and foreign.get(text, False)
                reason, row = self._reason(compared, is_foreign, sentence.is_string)
            if sentence.group is not None and row is not None:
                self.done.rows.append(row)
                self.done.groups.append(group_number(sentence.group))
            if reason is None:
                self.done.kept += 1
                yield number, self._normalised(sentence, text)
            else:
                self._drop(reason, file, sentence, row, text)

    def _normalised(self, sentence: Sentence, text: str) -> Sentence:
        if "form" in self.cleaning.off or text == sentence.text:
            return sentence
        self.done.changed += 1
        return sentence._replace(text=text)

    def _drop(self, reason: Reason, file: str, sentence: Sentence, row: int | None, text: str) -> None:
        self.done.dropped[reason] += 1
        if reason != "empty":
            first = "" if row is None else str(row)
            record = [reason, file, str(sentence.line), sentence.id, first, text[:LONGEST_RECORDED]]
            self._record.writerow(record)

    def _unfit(self, sentence: Sentence, text: str) -> Reason | None:
        """The reason why a sentence is dropped regardless of earlier ones; None if there is none."""
        if not text:
            return "empty"
        if not (sentence.confirmed or self._unconfirmed):
            return "unconfirmed"
        return "long" if self._longest is not None and len(text) > self._longest else None

    def _reason(self, text: str, foreign: bool, is_string: bool) -> tuple[Reason | None, int | None]:
        """Why a sentence is dropped because of its language or earlier ones (or None), and its text's row."""
        row = self.done.kept
        first, same = self.seen.first(text, FOREIGN_ROW if foreign else row) or (row, False)
        if foreign or (first == FOREIGN_ROW and not is_string):
            return "language", None
        rule: Rule = "duplicate" if same else "near"
        kept = first in (row, FOREIGN_ROW) or rule in self.cleaning.off or (is_string and not same)
        return (None, row) if kept else (rule, first)
