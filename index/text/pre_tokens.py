"""Texts as numbers of what stands between their spaces, so that each piece is worked on once.

A corpus has millions of words and some ten thousand different pieces. Where a tokenizer cuts at every space
and looks at nothing beyond it, the tokens of a text are those of its pieces, one after the other: `Memory`
looks each piece up instead of tokenising it, and leaves whatever is not certain to the tokenizer.
"""

import json
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from index.text.normalisation import clean

MOST = 1 << 16  # pieces remembered
RECENT = 1 << 14  # by a service, which has so many in a few MB
LEARNED = 64  # new pieces at once: of texts with more, the tokenizer is asked
LONG = 40  # characters of a piece that is remembered
METASPACE = "\u2581"  # what SentencePiece writes for a space
Integers = NDArray[np.int64]
StringArray = Any  # pyarrow.StringArray: pyarrow is untyped

# What changes a character whatever stands before or after the space next to it.
NORMALIZERS = frozenset({"NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "BertNormalizer"})
# What cuts at every space; steps after it see one piece, or a part of one, at a time.
SPLITTERS = frozenset({"WhitespaceSplit", "Whitespace", "BertPreTokenizer"})


@dataclass(frozen=True)
class Tokens:
    """The tokens of texts: all in one row, and how many each text has."""

    every: Integers
    lengths: Integers

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> "Tokens":
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        return cls(np.fromiter(chain.from_iterable(lists), np.int64, int(lengths.sum())), lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def texts(self) -> Integers:
        """Which text each token is of."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, rows: Integers) -> "Tokens":
        """The tokens of some texts, in that order."""
        lengths = self.lengths[rows]
        return Tokens(self.every[slices((np.cumsum(self.lengths) - self.lengths)[rows], lengths)], lengths)

    def without(self, left_out: Integers) -> "Tokens":
        """The texts without some tokens."""
        if not len(left_out):
            return self
        kept = np.isin(self.every, left_out, invert=True)
        return Tokens(self.every[kept], np.bincount(self.texts[kept], minlength=len(self)))

    def followed(self, others: "Tokens") -> "Tokens":
        """These and others after them."""
        return Tokens(
            np.concatenate([self.every, others.every]), np.concatenate([self.lengths, others.lengths])
        )


def slices(starts: Integers, lengths: Integers) -> Integers:
    """The places starts[i] to starts[i] + lengths[i], for each i after the other."""
    shifts = starts - (np.cumsum(lengths) - lengths)
    return np.repeat(shifts, lengths) + np.arange(int(lengths.sum()))


class Pieces(dict[str, int]):
    """The number of each piece, in the order in which they were seen."""

    def __missing__(self, piece: str) -> int:
        number = self[piece] = len(self)
        return number

    def numbered(self, texts: Sequence[str] | StringArray) -> Tokens:
        """The numbers of the pieces of texts."""
        # Imported here: a service numbers nothing.
        import pyarrow as pa

        from index.storage.tables import strings

        if isinstance(texts, pa.StringArray):
            found = self._split_at_spaces(texts)
            return self._split(texts.to_pylist()) if found is None else found
        # Printable: UTF-8 can say it.
        found = self._split_at_spaces(strings(texts)) if "".join(texts).isprintable() else None
        return self._split(texts) if found is None else found

    def _split(self, texts: Sequence[str]) -> Tokens:
        every, lengths = array("q"), array("q")
        number = self.__getitem__
        for text in texts:
            pieces = text.split()
            lengths.append(len(pieces))
            every.extend(map(number, pieces))
        return Tokens(np.frombuffer(every, np.int64), np.frombuffer(lengths, np.int64))

    def _split_at_spaces(self, texts: StringArray) -> Tokens | None:
        """`_split`, a third of the time; None where not every text has its pieces between single spaces."""
        import pyarrow.compute as pc

        pieces = pc.split_pattern(texts, " ")
        coded = pieces.flatten().dictionary_encode()
        found = coded.dictionary.to_pylist()
        # Printable: no white space but spaces.
        if "" in found or not all(map(str.isprintable, found)):
            return None
        numbers = np.fromiter(map(self.__getitem__, found), np.int64, len(found))
        lengths = np.diff(np.frombuffer(pieces.offsets.buffers()[1], np.int32, len(texts) + 1))
        every = np.frombuffer(coded.indices.buffers()[1], np.int32, len(coded))
        return Tokens(numbers[every], lengths.astype(np.int64))


class Memory:
    """What `tokenize` says of texts of at most `longest` characters, each piece tokenised once.

    `tokenize`: texts -> the token ids of each, none empty, at most `most`.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        tokenize: Callable[[Sequence[str]], list[list[int]]],
        longest: int,
        most: int,
    ) -> None:
        self._tokenizer, self._tokenize, self._longest, self._most = tokenizer, tokenize, longest, most
        rules: dict[str, Any] = json.loads(tokenizer.to_str())
        self._first = _first(rules)
        self._apart = tuple(token["content"] for token in rules["added_tokens"])
        self.usable = self._first is not None and _cuts_at_spaces(rules)
        self._forget()

    def _forget(self) -> None:
        self._pieces, self._known = Pieces(), Tokens.of([])
        self._doubtful = np.zeros(0, bool)

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """The tokens of each text."""
        if not self.usable:
            return Tokens.of(self._tokenize(texts))
        if len(self._pieces) > MOST:
            self._forget()
        pieces = self._pieces.numbered(texts)
        self._learn()
        doubtful = np.bincount(pieces.texts, self._doubtful[pieces.every], len(texts)) > 0
        doubtful |= np.fromiter((len(text) > self._longest for text in texts), bool, len(texts))
        doubtful |= pieces.lengths == 0
        return self._joined(texts, pieces, np.flatnonzero(doubtful))

    def apart(self, words: Sequence[str]) -> bool:
        """Whether words in one text, a space between them, have the tokens that each has alone."""
        together = " ".join(words)
        if not self.usable or clean(together) != together:
            return False
        normalizer = self._tokenizer.normalizer
        normal = normalizer.normalize_str(together) if normalizer else together
        pieces = normal.split()
        return (
            len(pieces) == len(words)
            and pieces == normal.split(" ")
            and not any(token in text for token in (METASPACE, *self._apart) for text in (together, normal))
        )

    def _joined(self, texts: Sequence[str], pieces: Tokens, doubtful: Integers) -> Tokens:
        """The tokens of the pieces of each text, those of `doubtful` texts from the tokenizer."""
        counts = self._known.lengths[pieces.every]
        found = self._known.take(pieces.every).every
        lengths = np.bincount(pieces.texts, counts, len(texts)).astype(np.int64)
        found, lengths = self._cut(Tokens(found, lengths), doubtful)
        starts = np.cumsum(lengths) - lengths
        if first := self._first:
            others = np.setdiff1d(np.arange(len(texts)), doubtful)
            found = np.insert(found, np.repeat(starts[others], len(first)), first * len(others))
            lengths[others] += len(first)
            starts = np.cumsum(lengths) - lengths
        if len(doubtful):
            whole = Tokens.of(self._tokenize([texts[row] for row in doubtful]))
            found = np.insert(found, np.repeat(starts[doubtful], whole.lengths), whole.every)
            lengths[doubtful] = whole.lengths
        return Tokens(found, lengths)

    def _cut(self, tokens: Tokens, emptied: Integers) -> tuple[Integers, Integers]:
        """Tokens and lengths, with as many of each text as there may be, none of those `emptied`."""
        lengths = np.minimum(tokens.lengths, self._most - len(self._first or ()))
        lengths[emptied] = 0
        if (lengths == tokens.lengths).all():
            return tokens.every, lengths
        return tokens.every[slices(np.cumsum(tokens.lengths) - tokens.lengths, lengths)], lengths

    def _learn(self) -> None:
        """Tokenise the pieces that are new."""
        new = list(self._pieces)[len(self._known) :]
        if not new:
            return
        certain = [self._certain(piece) for piece in new]
        asked = [piece if sure else "" for piece, sure in zip(new, certain, strict=True)]
        # What is too long for a text is cut here, as it would be in one.
        ids = [found.ids for found in self._tokenizer.encode_batch_fast(asked, add_special_tokens=False)]
        self._known = self._known.followed(Tokens.of(ids))
        self._doubtful = np.concatenate([self._doubtful, ~np.array(certain)])

    def _certain(self, piece: str) -> bool:
        """Whether a piece is tokenised alone as it is beside others."""
        if clean(piece) != piece or any(token in piece for token in self._apart):
            return False
        normalizer = self._tokenizer.normalizer
        normal = normalizer.normalize_str(piece) if normalizer else piece
        edges = normal[:1] + normal[-1:]
        return bool(normal) and METASPACE not in edges and not any(map(str.isspace, edges))


class Recent:
    """What `Memory` says of few texts at a time, in a tenth of the tokenizer's time; any threads may ask."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._known: dict[str, tuple[int, ...] | None] = {}  # None: not certain

    def __len__(self) -> int:
        return len(self._known)

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of each text, as `tokenize` gives them."""
        memory = self._memory
        if not memory.usable:
            return memory._tokenize(texts)
        split = [text.split() if len(text) <= memory._longest else [] for text in texts]
        known = self._learned({piece for pieces in split for piece in pieces})
        found = [self._of(list(map(known.get, pieces))) for pieces in split]
        if doubtful := [row for row, ids in enumerate(found) if not ids]:
            for row, ids in zip(doubtful, memory._tokenize([texts[row] for row in doubtful]), strict=True):
                found[row] = ids
        return found

    def _learned(self, pieces: set[str]) -> dict[str, tuple[int, ...] | None]:
        """What is known, of `pieces` as much as may be learned at once."""
        new = [piece for piece in pieces if piece not in self._known and len(piece) <= LONG][:LEARNED]
        if not new:
            return self._known
        certain = list(filter(self._memory._certain, new))
        found = self._memory._tokenizer.encode_batch_fast(certain, add_special_tokens=False)
        if len(self._known) > RECENT:
            self._known = {}
        self._known |= dict.fromkeys(new)
        self._known |= {piece: tuple(own.ids) for piece, own in zip(certain, found, strict=True)}
        return self._known

    def _of(self, parts: list[tuple[int, ...] | None]) -> list[int]:
        """The tokens of a text, of which these are the pieces'; none where that is not certain."""
        if not parts or None in parts:
            return []
        ids = [*(self._memory._first or ()), *chain.from_iterable(cast(list[tuple[int, ...]], parts))]
        return ids[: self._memory._most]


def _cuts_at_spaces(rules: dict[str, Any]) -> bool:
    """Whether what a tokenizer makes of a piece depends on that piece alone."""
    normalizers, steps = (_steps(rules[key], f"{key}s") for key in ("normalizer", "pre_tokenizer"))
    truncation, model = rules["truncation"], rules["model"]
    return (
        all(map(_keeps_to_characters, normalizers))
        and bool(steps)
        and _splits(steps[0])
        and not any(
            token["normalized"] or set(token["content"]) & set(" ") for token in rules["added_tokens"]
        )
        and not model.get("dropout")
        and truncation is not None
        and (truncation["direction"], truncation["stride"]) == ("Right", 0)
    )


def _steps(rule: dict[str, Any] | None, name: str) -> list[dict[str, Any]]:
    """A sequence's steps, or the one that is there."""
    if rule is None:
        return []
    found: list[dict[str, Any]] = (
        rule.get(name.replace("_", ""), []) if rule["type"] == "Sequence" else [rule]
    )
    return found


def _keeps_to_characters(step: dict[str, Any]) -> bool:
    """Whether a normaliser changes nothing on account of what stands beyond a space."""
    if step["type"] == "Replace":
        replaced = step["pattern"].get("String", " ") + step["content"]
        return not any(map(str.isspace, replaced)) and METASPACE not in replaced
    return step["type"] in NORMALIZERS


def _splits(step: dict[str, Any]) -> bool:
    if step["type"] == "Metaspace":
        return (step["replacement"], step["prepend_scheme"], step["split"]) == (METASPACE, "always", True)
    return step["type"] in SPLITTERS


def _first(rules: dict[str, Any]) -> list[int] | None:
    """The tokens put before every text; None where there may be others."""
    processor = rules["post_processor"]
    if processor is None:
        return []
    if processor["type"] != "TemplateProcessing":
        return None
    *before, last = processor["single"]
    if "Sequence" not in last or any("SpecialToken" not in part for part in before):
        return None
    names = [part["SpecialToken"]["id"] for part in before]
    return [number for name in names for number in processor["special_tokens"][name]["ids"]]
