"""What of a corpus goes into an index: each sentence in one form and once; what is dropped is counted."""

import csv
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Literal, TextIO, get_args

from index.corpora.sentence import Sentence, group_number
from index.text import clean

if TYPE_CHECKING:
    from index.duplicates import Seen

Reason = Literal["empty", "unconfirmed", "long", "language", "duplicate", "near"]
Rule = Literal["form", "unconfirmed", "long", "language", "duplicate", "near"]
RULES: tuple[Rule, ...] = get_args(Rule)
BATCH = 1024  # sentences judged at a time

# Texts -> for each whether it is surely in another language than that of the corpus.
Judge = Callable[[Sequence[str]], Sequence[bool]]


@dataclass(frozen=True)
class Cleaning:
    """The rules of a build. All hold, but those in `off`:

    form         a sentence is stored in NFC, its white space single, invisible characters dropped
    unconfirmed  translations that a translator has not approved (fuzzy in PO, states in XLIFF)
    long         more than `longest` characters
    language     surely in another language of the encoder
    duplicate    the same text as an earlier sentence
    near         nearly an earlier one: equal but for case, punctuation and spaces, or, where `likeness` is
                 below 1, of that similarity (Jaccard, of character 5-grams, estimated)
    """

    off: frozenset[Rule] = frozenset()
    longest: int = 1000
    likeness: float = 1.0


# Each text once and nothing else dropped: for measuring.
ONCE = Cleaning(off=frozenset({"unconfirmed", "long", "language", "near"}))


@dataclass
class Cleaned:
    """What cleaning has done so far. `links` are pairs of a row that was kept and a group it stands for."""

    lines: int = 0
    kept: int = 0
    changed: int = 0  # kept in another form than in the file
    dropped: Counter[Reason] = field(default_factory=Counter)
    rows: "array[int]" = field(default_factory=lambda: array("q"))
    groups: "array[int]" = field(default_factory=lambda: array("q"))


class Cleaner:
    """Cleans the sentences of one language; what it drops is written to `record`, a TSV with a head."""

    def __init__(self, cleaning: Cleaning, judge: Judge | None = None, record: TextIO | None = None) -> None:
        self.cleaning, self.done = cleaning, Cleaned()
        self._judge = judge if "language" not in cleaning.off else None
        self._record = record and csv.writer(record, delimiter="\t", lineterminator="\n")
        self._write(["reason", "file", "line", "id", "row", "text"])

    def sentences(self, found: Iterable[tuple[str, Sentence]]) -> Iterator[tuple[str, Sentence]]:
        """(file, sentence) -> those kept, in order; row i of the index is the ith."""
        # Imported here: a command that lists the rules needs no numpy.
        from index.duplicates import Seen

        found = iter(found)
        with closing(Seen(self.cleaning.likeness)) as seen:
            while batch := list(islice(found, BATCH)):
                yield from self._batch(batch, seen)

    def _batch(self, batch: list[tuple[str, Sentence]], seen: "Seen") -> Iterator[tuple[str, Sentence]]:
        texts = [clean(sentence.text) for _, sentence in batch]
        foreign = self._judge(texts) if self._judge else [False] * len(texts)
        for (file, sentence), text, other in zip(batch, texts, foreign, strict=True):
            self.done.lines += 1
            reason, row = self._reason(sentence, text, other, seen)
            if sentence.group is not None and row is not None:
                self.done.rows.append(row)
                self.done.groups.append(group_number(sentence.group))
            if reason is None:
                self.done.kept += 1
                if "form" not in self.cleaning.off and text != sentence.text:
                    self.done.changed += 1
                    sentence = replace(sentence, text=text)
                yield file, sentence
            else:
                self.done.dropped[reason] += 1
                if reason != "empty":
                    first = "" if row is None else str(row)
                    self._write([reason, file, str(sentence.line), sentence.id, first, text])

    def _reason(
        self, sentence: Sentence, text: str, foreign: bool, seen: "Seen"
    ) -> tuple[Reason | None, int | None]:
        """Why a sentence is dropped, and the row that stands for its text."""
        off, row = self.cleaning.off, self.done.kept
        if not text:
            return "empty", None
        if not sentence.confirmed and "unconfirmed" not in off:
            return "unconfirmed", None
        if len(text) > self.cleaning.longest and "long" not in off:
            return "long", None
        if foreign:
            return "language", None
        if "duplicate" not in off and (first := seen.exact(text, row)) is not None:
            return "duplicate", first
        if "near" not in off and (first := seen.near(text, row)) is not None and first != row:
            return "near", first
        return None, row

    def _write(self, cells: list[str]) -> None:
        if self._record:
            self._record.writerow(cells)
