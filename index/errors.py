"""The errors of the house, as one tree.

PassepartoutError            exit 1: the work failed
├── UsageError               exit 2: the call is wrong; the message says what to change
│   ├── BusyError            something else changes the index now: wait for it
│   ├── OutdatedError        another version took the place of the one to be changed: repeat it
│   ├── CorpusError          an input file that cannot be read as what it should be
│   ├── DataError            training or evaluation data that is missing or malformed
│   ├── RecipeError          a recipe with an unknown key or a value out of range
│   └── UnknownLanguageError a language that the bundle or the index does not hold
├── BundleError              an encoder bundle or index on disk that must not be used
│   ├── FormatError          its format version is not one this code reads
│   └── DamagedError         a file is missing, truncated or altered
├── StoreError               the store of an index's vectors (Milvus) that does not answer
└── TrainingError            a run that cannot go on (loss not finite, too many bad pictures)

`str(error)` is one line; commands print it and exit, the service maps it to a problem document.
"""


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


class UnknownLanguageError(UsageError):
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
