"""What a build is told: in its manifest, and kept by changes of the index. Imports nothing heavy."""

from dataclasses import dataclass
from typing import Literal, get_args

Rule = Literal["form", "unconfirmed", "long", "language", "duplicate", "near"]
CLEANING_RULES: tuple[Rule, ...] = get_args(Rule)


@dataclass(frozen=True)
class Cleaning:
    """The cleaning rules of a build. All apply except those in `off`:

    form         a sentence is stored in NFC, its white space single, invisible characters dropped
    unconfirmed  translations that a translator has not approved (fuzzy in PO, states in XLIFF)
    long         more than `longest` characters
    language     clearly in another language of the encoder
    duplicate    the same text as an earlier sentence
    near         nearly an earlier one: equal but for case, punctuation and spaces
    """

    off: tuple[Rule, ...] = ()
    longest: int = 1000


# Drops only duplicates; for measurements.
DEDUPLICATION_ONLY = Cleaning(off=("unconfirmed", "long", "language", "near"))


@dataclass(frozen=True)
class Options:
    """How sentences are searched, and which are aligned.

    `factory`: the string for `faiss.index_factory`, None: chosen by the number of sentences; `store`: the
    address of the Milvus that holds the vectors, None: files; `aligned`: line i says the same in every text
    file of a folder.
    """

    factory: str | None = None
    store: str | None = None
    aligned: bool = False
