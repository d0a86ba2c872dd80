"""All errors, as one tree.

PassepartoutError            exit 1: the work failed
├── UsageError               exit 2: wrong use; the message says what to change
│   ├── BusyError            another process is changing the index: wait for it
│   ├── OutdatedError        another version was published meanwhile: repeat the change
│   ├── CorpusError          an input file that is not what it should be
│   ├── DataError            training or evaluation data that is missing or malformed
│   ├── RecipeError          a recipe with an unknown key or a value out of range
│   └── RequestError         a question that cannot be answered; `faults` say which fields are wrong
│       ├── UnknownLanguageError     a language that the bundle or the index does not have
│       └── UndetectedLanguageError  a text whose language is not clear
├── BundleError              an encoder bundle or index on disk that must not be used
│   ├── FormatError          a format version that this code does not read
│   └── DamagedError         a file is missing, truncated or altered
├── StoreError               the vector store (Milvus) does not answer
└── TrainingError            a run that cannot continue (loss not finite, too many bad pictures)

`str(error)` is one line; commands print it and exit, the service maps it to a problem document.
"""

import collections.abc
from dataclasses import dataclass

NAMES_LISTED = 10  # in an error


def listed(names: collections.abc.Collection[str], most: int = NAMES_LISTED) -> str:
    """Names for a message: the first ones, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(list(names)[:most]) + more


def unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of a JSON document; ValueError for a key that is given twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key is repeated")
    return values


class PassepartoutError(Exception):
    """Root of the tree; `exit_code` is what a command exits with."""

    exit_code = 1


class UsageError(PassepartoutError):
    exit_code = 2


class BusyError(UsageError):
    pass


class OutdatedError(UsageError):
    pass


class CorpusError(UsageError):
    pass


class DataError(UsageError):
    pass


class RecipeError(UsageError):
    pass


@dataclass(frozen=True)
class Fault:
    """What is wrong with one field of a request, and what to change."""

    field: str
    message: str
    limit: float | None = None
    allowed: list[str] | None = None
    candidates: list[str] | None = None


class RequestError(UsageError):
    def __init__(self, message: str, faults: collections.abc.Sequence[Fault] = ()) -> None:
        super().__init__(message)
        self.faults = faults


class UnknownLanguageError(RequestError):
    pass


class UndetectedLanguageError(RequestError):
    pass


class BundleError(PassepartoutError):
    pass


class FormatError(BundleError):
    pass


class DamagedError(BundleError):
    pass


class StoreError(PassepartoutError):
    pass


class TrainingError(PassepartoutError):
    pass
