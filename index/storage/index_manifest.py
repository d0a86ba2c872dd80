"""IndexManifest: the description of a version of an index, as stored in its manifest.json."""

from collections import Counter
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from index.confidence import PairQuality
from index.confidence.models import Confidence
from index.frozen import Frozen
from index.languages import LANGUAGE_CODE
from index.storage.files import FileEntry
from index.storage.manifest import VERSION_ID, Manifest
from index.storage.options import Cleaning, Options

INDEX_FORMAT = 13


class SearchSettings(Frozen):
    """How the vectors of a language are searched, in the terms of FAISS.

    `factory`: the string for `faiss.index_factory`; in Milvus "Flat" or "HNSW". `parameters`, as
    `faiss.ParameterSpace` reads them, are the cheapest that reached the target recall@10, for sentences
    of the other languages, when the index was built; `recall` is what they reached. `collection`: where
    Milvus has them.
    """

    store: Literal["faiss", "milvus"] = "faiss"
    factory: str = "Flat"
    parameters: str = Field(default="", pattern=r"^[A-Za-z_]*(=[0-9]+(,[A-Za-z_]+=[0-9]+)*)?$")
    recall: float | None = Field(default=None, ge=0, le=1)
    collection: str = Field(default="", pattern=r"^[A-Za-z0-9_]{0,255}$")


class VectorSegment(Frozen):
    """What changed in a language since LANG.faiss was written; LANG.added.faiss has the vectors of `rows`.

    `deleted` and `replaced` are rows of LANG.faiss, ascending; `rows` are those of the version: replaced ones
    keep their numbers, added ones are the last.
    """

    deleted: tuple[int, ...] = ()
    replaced: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()


class LanguageEntry(Frozen):
    """The sizes of one language in an index, and the lines of its corpus that were dropped, by reason.

    `changed` of the kept sentences were normalised; `links` pair a sentence with an aligned unit (a row, a
    group of translations), of which one may be in several, so that there may be more than sentences;
    `resembles` is the language that the lines look like where most were dropped for another.
    """

    sentences: int = Field(ge=1)
    words: int = Field(ge=0)
    lines: int = Field(ge=0)
    changed: int = Field(ge=0)
    dropped: dict[str, int]
    resembles: str | None = None
    links: int = Field(ge=0)
    search: SearchSettings = SearchSettings()
    word_search: SearchSettings = SearchSettings()
    segment: VectorSegment | None = None

    @property
    def main_rows(self) -> int:
        """The number of rows of LANG.faiss."""
        segment = self.segment or VectorSegment()
        return self.sentences - len(segment.rows) + len(segment.deleted) + len(segment.replaced)


class IndexManifest(Manifest):
    """The manifest of a version of an index.

    The order of `languages`, without the language itself, is the order of the columns of its hubness.npy and
    best.npy; `detects` are the rows of detector.npy. `job`: who asked for it. `skipped`: sentences per file
    in languages that the encoder does not know.
    `quality` has keys such as "de-en": questions in the first, answers in the second.
    """

    format: int = INDEX_FORMAT
    version: str = Field(pattern=rf"^{VERSION_ID.pattern}$")
    base: str | None = None
    created: AwareDatetime
    model: str
    dimension: int = Field(ge=1, le=65536)
    options: Options = Options()
    job: str | None = None
    languages: dict[Annotated[str, Field(pattern=LANGUAGE_CODE)], LanguageEntry] = Field(min_length=1)
    detects: tuple[str, ...]
    cleaning: Cleaning
    skipped: dict[str, int] = Field(default_factory=dict)
    confidence: Confidence
    quality: dict[str, PairQuality] = Field(default_factory=dict)
    files: dict[str, FileEntry] = Field(default_factory=dict)

    @property
    def sentences(self) -> Counter[str]:
        """How many sentences the version has, by language."""
        return Counter({code: entry.sentences for code, entry in self.languages.items()})

    @property
    def dropped(self) -> Counter[str]:
        """How many lines of all languages were dropped, by reason."""
        return sum((Counter(entry.dropped) for entry in self.languages.values()), Counter[str]())

    def sources(self, language: str) -> tuple[str, ...]:
        """The other languages, in the order of the columns of `language`'s hubness files."""
        return tuple(code for code in self.languages if code != language)

    @property
    def partners(self) -> tuple[str, ...]:
        """The languages of the columns of LANG.words.best.npy: all, unless there is one alone."""
        return tuple(self.languages) if len(self.languages) > 1 else ()
