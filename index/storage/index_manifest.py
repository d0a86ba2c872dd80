"""IndexManifest: what a version of an index says of itself."""

import re
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from index.confidence.quality import Confidence, HubnessEntry, PairQuality
from index.storage.files import FileEntry
from index.storage.manifest import CODE, Manifest

INDEX_FORMAT = 2  # 1: vectors in files of our own beside FAISS's
ID = re.compile(r"([0-9]{8})-([1-9][0-9]{0,5})")

Scoring = Literal["csls", "ratio"]


class SearchSettings(BaseModel):
    """How the vectors of a language are searched, in the words of FAISS.

    `factory`: what `faiss.index_factory` made the index from; Milvus has a "Flat" or an "HNSW" index.
    `parameters`, as `faiss.ParameterSpace` reads them, are the least that found as many of the ten nearest
    as `recall` says, for sentences of the other languages, when the index was built.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    store: Literal["faiss", "milvus"] = "faiss"
    factory: str = "Flat"
    parameters: str = Field(default="", pattern=r"^[A-Za-z_]*(=[0-9]+(,[A-Za-z_]+=[0-9]+)*)?$")
    recall: float | None = Field(default=None, ge=0, le=1)


class LanguageEntry(BaseModel):
    """What an index holds of one language, and the lines that its corpus lost on the way, by reason.

    `changed` of those kept were brought into form; `links` pair a sentence with a group of translations.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sentences: int = Field(ge=1)
    words: int = Field(ge=0)
    phrases: int = Field(default=0, ge=0)
    lines: int = Field(ge=0)
    changed: int = Field(ge=0)
    dropped: dict[str, int]
    links: int = Field(ge=0)
    search: SearchSettings = SearchSettings()
    word_search: SearchSettings = SearchSettings()


class CleaningEntry(BaseModel):
    """The rules of cleaning that a build left out, and the bounds of the others (`cleaning.Cleaning`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    off: tuple[str, ...]
    longest: int
    likeness: float


class Options(BaseModel):
    """What whoever built it asked for, beside cleaning and scoring; a change keeps it.

    `factory` of the vectors of sentences, None: by their number; `store`: the Milvus that has them, None:
    files; words that occur `least_count` times; `phrases` or not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    factory: str | None = None
    store: str | None = None
    least_count: int = Field(default=1, ge=1)
    phrases: bool = True


class WordAlignment(BaseModel):
    """How the word spaces were aligned (`procrustes.align`); `anchors` by "de-en"; pull null: no rotation.

    `orthogonality`: the largest entry of |Rᵀ R - I| over all rotations.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    iterations: int
    converged: bool
    pull: float | None
    anchors: dict[str, int]
    orthogonality: float = Field(default=0.0, ge=0)


class IndexManifest(Manifest):
    """What a version is.

    The order of `languages`, without its own, is the order of hubness columns; `detects` are the rows of
    detector.npy. `skipped`: sentences of a file in languages that the encoder does not know. `quality` and
    `hubness` are by "de-en", asked in the first.
    """

    format: int = INDEX_FORMAT
    version: str = Field(pattern=rf"^{ID.pattern}$")
    base: str | None = None
    created: AwareDatetime
    model: str
    dimension: int = Field(ge=1, le=65536)
    scoring: Scoring = "csls"
    options: Options = Options()
    calibrated: bool = False  # whether confidences of sentences were fitted for this encoder
    key: str = Field(pattern=r"^[0-9a-f]{64}$")
    languages: dict[Annotated[str, Field(pattern=CODE)], LanguageEntry] = Field(min_length=1)
    alignment: WordAlignment
    detects: tuple[str, ...]
    cleaning: CleaningEntry
    skipped: dict[str, int] = Field(default_factory=dict)
    confidence: Confidence = Confidence()
    quality: dict[str, PairQuality] = Field(default_factory=dict)
    hubness: dict[str, HubnessEntry] = Field(default_factory=dict)
    files: dict[str, FileEntry] = Field(default_factory=dict)

    @property
    def stored(self) -> bool:
        """Whether Milvus has the vectors of its sentences."""
        return any(entry.search.store == "milvus" for entry in self.languages.values())

    def sources(self, language: str) -> tuple[str, ...]:
        """The other languages, in the order of the columns of `language`'s hubness files."""
        return tuple(code for code in self.languages if code != language)
