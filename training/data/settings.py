"""What a recipe says of its data: the tables [data] and [tokenizer]."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from index.encoder.bundle import LanguageCodes, check_codes

PHOTO_SET = "photos"
PICTOGRAM_SET = "pictograms"  # the set that artists drew, with a layout of its own
SetName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]


def listed(names: object) -> object:
    """A bare name as a list of one, "" as an empty one."""
    return [name for name in (names,) if name] if isinstance(names, str) else names


TextNames = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_/-]*$")], ...], BeforeValidator(listed)
]


class SettingsTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class DataSettings(SettingsTable):
    """Which captions of which pictures are trained on.

    pictures: "disjoint" gives each picture to one language, whose captions alone are seen (the tasks photos-5
    and photos-11); "shared" lets a picture keep its captions in every language; "pivoted" gives each of the
    same pictures to the first language and to one of the others (Krasner et al. 2025, 3.1, Eng-Pivot);
    "common" keeps the share of them that "disjoint" gives one language, and all captions of these: no more
    than "disjoint" has in any language, but known to be of one picture.
    rotation: the languages that take turns at "disjoint" pictures; all of them when empty. The others are
    learned from `texts` and drawings only.
    caption_kinds: the kinds of caption to use ("human", "human translation of English", "machine"); all when
    empty.
    shuffle_pictures: the control, in which captions get the picture of another caption of their language.
    sets: the picture sets to train on, folders of the data folder (docs/data.md); a language need not be in
    each. "pictograms" has drawings, whose names and keywords are captions (training.data.pictograms), and
    validates only where it is alone. The other sets' features are shifted to the mean of the first.
    weights: set -> how often an epoch shows each of its pictures, on average; 1 where none is given.
    open_licences: whether to refuse sets and texts that are not openly licensed (training.data.terms).
    texts: one or more NAMEs of sentences, for the vocabulary and for mining: text/NAME.LANG.txt; or a
    picture set, for the sentences that its training captions are; or a folder with LANG.txt. Each language is
    shuffled by itself, so that neither corresponding lines nor common pictures are used. "" or []: none.
    """

    languages: LanguageCodes
    caption_kinds: tuple[str, ...] = ()
    pictures: Literal["disjoint", "shared", "pivoted", "common"] = "disjoint"
    rotation: Annotated[tuple[str, ...], AfterValidator(check_codes)] = ()
    shuffle_pictures: bool = False
    sets: tuple[SetName, ...] = Field(default=(PHOTO_SET,), min_length=1)
    weights: dict[SetName, float] = Field(default={})
    open_licences: bool = False
    texts: TextNames = ()

    @model_validator(mode="after")
    def _sets_fit(self) -> "DataSettings":
        if len(set(self.sets)) != len(self.sets):
            raise ValueError("sets: one is named twice")
        for name, weight in self.weights.items():
            if name not in self.sets:
                raise ValueError(f"weights: {name} is not among the sets")
            if weight <= 0:
                raise ValueError(f"weights: {name} needs a weight above 0")
        return self

    @model_validator(mode="after")
    def _rotation_fits(self) -> "DataSettings":
        if self.pictures == "pivoted" and len(self.languages) < 2:
            raise ValueError('pictures = "pivoted" needs two languages')
        if not self.rotation:
            return self
        if unknown := [code for code in self.rotation if code not in self.languages]:
            raise ValueError(f"rotation: {unknown[0]} is not among the languages")
        if self.pictures != "disjoint":
            raise ValueError('rotation needs pictures = "disjoint"')
        return self

    @property
    def anchors(self) -> tuple[str, ...] | None:
        """The languages that a batch's captions are in, where they are not all that a picture has."""
        return self.languages[:1] if self.pictures == "pivoted" else None


class TokenizerSettings(SettingsTable):
    """A vocabulary shared by all languages: subwords by BPE (globetrotter, 3.5), or word forms (Kádár et al.
    2019, 3.1; MULE), where a form is one token whatever its language.

    language_temperature: T of p_l ∝ n_l^(1/T), the share of language l, with n_l characters, in the text
    that the vocabulary is learned from; higher values are more even. If left out, each text counts once.
    """

    kind: Literal["bpe", "words"] = "bpe"
    vocabulary: int = Field(default=30_000, ge=200)
    lowercase: bool = True
    language_temperature: float | None = Field(default=None, ge=1)
