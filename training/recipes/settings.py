"""The tables of a recipe that are no encoder's and no objective's own; training.recipe puts them together."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from index.encoder.bundle import LanguageCodes, check_codes

Script = Literal["Cyrillic", "Devanagari"]  # those that training.data.romanisation knows


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class DataSettings(Table):
    """Which captions of which pictures are trained on.

    pictures: "disjoint" gives each picture to one language, whose captions alone are seen (the tasks photos-5
    and photos-11); "shared" lets a picture keep its captions in every language; "pivoted" gives each of the
    same pictures to the first language and to one of the others (Krasner et al. 2025, 3.1, Eng-Pivot);
    "common" keeps the share of them that "disjoint" gives one language, and all captions of these: no more
    than "disjoint" has in any language, but known to be of one picture.
    rotation: the languages that take turns at pictures that are "disjoint"; all of them when empty. The
    others are known from `texts` and drawings alone.
    caption_kinds: the kinds of caption that count ("human", "human translation of English", "machine"); all
    when empty.
    shuffle_pictures: the control: captions get the picture of another caption.
    photographs: whether photos/ is trained on.
    pictograms: whether drawings of pictograms/ are; their names and their keywords are captions
    (training.data.pictograms). Without photographs they are what validates, too.
    texts: the name of sentences without pictures, text/NAME.LANG.txt, which the vocabulary and mining see
    beside the captions; each language's by themselves, whatever lines up. "": none.
    language_temperature: T of p_l ∝ n_l^(1/T), the share of an epoch that language l gets, n_l its pictures;
    1 is natural, the higher the more alike. Left out, each picture comes once, its languages alike.
    stream: the folder of shards, below the data folder, that training pictures and captions are streamed from
    in place of photos/ (training.data.shards); "": none. An epoch is then a window of so many pictures.
    bad_pictures: the share of pictures that may be missing or undecodable; up to it they are skipped with
    their captions, beyond it the run does not begin.
    held_out: languages that get their share of the disjoint pictures but are not learned: what
    `passepartout add-language` learns from later.
    added: those of `languages` that were added to a finished run (training.experiments.adding): in the order
    of their coming, each has what was held out for it and pictures that nobody had.
    """

    languages: LanguageCodes
    caption_kinds: tuple[str, ...] = ()
    pictures: Literal["disjoint", "shared", "pivoted", "common"] = "disjoint"
    rotation: Annotated[tuple[str, ...], AfterValidator(check_codes)] = ()
    shuffle_pictures: bool = False
    photographs: bool = True
    pictograms: bool = False
    texts: str = Field(default="", pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$|^$")
    language_temperature: float | None = Field(default=None, gt=0)
    stream: str = Field(default="", pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$|^$")
    window: int = Field(default=8192, ge=2)
    bad_pictures: float = Field(default=0.01, ge=0, le=1)
    held_out: Annotated[tuple[str, ...], AfterValidator(check_codes)] = ()
    added: Annotated[tuple[str, ...], AfterValidator(check_codes)] = ()

    @model_validator(mode="after")
    def _languages_fit(self) -> "DataSettings":
        if unknown := [code for code in self.added if code not in self.languages]:
            raise ValueError(f"added: {unknown[0]} is not among the languages")
        if not self.first:
            raise ValueError("added: one language or more must have been there first")
        if both := set(self.held_out) & set(self.first):
            raise ValueError(f"held_out: {min(both)} is among the languages that are learned")
        if self.held_out and self.pictures != "disjoint":
            raise ValueError('held_out needs pictures = "disjoint"; a shared picture is held out from none')
        if not (self.photographs or self.pictograms):
            raise ValueError("photographs = false leaves drawings: it needs pictograms = true")
        self._rotation_fits()
        return self

    def _rotation_fits(self) -> None:
        if self.pictures == "pivoted" and len(self.languages) < 2:
            raise ValueError('pictures = "pivoted" needs two languages')
        if not self.rotation:
            return
        if unknown := [code for code in self.rotation if code not in self.languages]:
            raise ValueError(f"rotation: {unknown[0]} is not among the languages")
        if self.pictures != "disjoint" or self.held_out or self.added:
            raise ValueError('rotation needs pictures = "disjoint", without held_out or added')

    @property
    def anchors(self) -> tuple[str, ...] | None:
        """The languages that a batch's captions are in, where they are not all that a picture has."""
        return self.languages[:1] if self.pictures == "pivoted" else None

    @property
    def first(self) -> tuple[str, ...]:
        """The languages that the run began with."""
        return tuple(code for code in self.languages if code not in self.added)


class TokenizerSettings(Table):
    """A vocabulary shared by all languages: of subwords by BPE (globetrotter, 3.5), or of word forms (Kádár
    et al. 2019, 3.1; MULE), where a form is one token whatever its language.

    language_temperature: T of p_l ∝ n_l^(1/T), the share that language l gets of the text that the vocabulary
    is learned from, n_l its characters: the higher, the more alike. Left out, each text counts once.
    romanise: scripts whose letters are read as Latin ones (training.data.romanisation): "Cyrillic",
    "Devanagari".
    """

    kind: Literal["bpe", "words"] = "bpe"
    vocabulary: int = Field(default=30_000, ge=200)
    lowercase: bool = True
    language_temperature: float | None = Field(default=None, ge=1)
    romanise: tuple[Script, ...] = ()


class VisionSettings(Table):
    """The picture branch.

    backbone: a Hugging Face name, or a folder (looked for below the data folder first).
    training: "tuned": the backbone learns, on freshly augmented pictures; "frozen": it does not, and its
    features are computed once for each of `views` fixed views and kept in the user's cache.
    space: "learned": a prediction head (globetrotter, 3.5); "whitened": the features' first principal
    components, divided by their standard deviation to the power of `whitening`, fixed.
    average_views: a picture is the mean over its views, or one view drawn each time (frozen only).
    """

    backbone: str
    training: Literal["tuned", "frozen"] = "tuned"
    space: Literal["learned", "whitened"] = "learned"
    views: int = Field(default=2, ge=1, le=10)
    average_views: bool = False
    whitening: float = Field(default=1.0, ge=0, le=1)
    image_size: int = Field(default=224, ge=16, le=1024)

    @model_validator(mode="after")
    def _space_is_possible(self) -> "VisionSettings":
        if self.space == "whitened" and self.training == "tuned":
            raise ValueError('space = "whitened" needs training = "frozen"')
        if self.average_views and self.training == "tuned":
            raise ValueError('average_views needs training = "frozen"')
        return self

    @property
    def gives_two_views(self) -> bool:
        """Whether a step sees two views of a picture, in a space that can learn from them."""
        return self.space == "learned" and self.views > 1 and not self.average_views


class HeadSettings(Table):
    """The common space: its dimension, and how the text branch and, where the space is learned, the picture
    branch get there: by a prediction head (globetrotter, 3.5), one affine map, or as they are."""

    dimension: int = Field(default=128, ge=2)
    text: Literal["mlp", "linear", "none"] = "mlp"
    pictures: Literal["mlp", "linear"] = "mlp"


class MiningSettings(Table):
    """Pseudopairs for objectives.pseudopairs: sentences that are each other's nearest, mined with the encoder
    as it is before epoch `begin` and before every `every`-th from there on (training.mining).

    Mined among the sentences of data.texts and the captions. keep: the share of all pairs that is kept, those
    with the highest CSLS. neighbours: the k of CSLS. sentences: of a language that has more, so many, drawn
    anew for each round, are looked at; the time that a round takes grows with the square. captions: without
    them no two captions are ever paired, as is promised where pictures are shared.
    """

    begin: int = Field(ge=1)
    every: int = Field(ge=1)
    captions: bool = True
    keep: float = Field(default=0.75, gt=0, le=1)
    neighbours: int = Field(default=10, ge=1)
    sentences: int = Field(default=50_000, ge=2)


class OptimiserSettings(Table):
    """Adam (AdamW where weight_decay > 0). An epoch shows each picture once, with one of its captions.

    schedule: "linear" falls to 0 at the end of the run, and before each round of mining, which then finds a
    settled encoder; after it the rate rises again.
    freeze_encoder_epochs: the first epochs, whole or in part, in which only the heads learn, the
    encoders staying as they are (Krasner et al. 2025, 3.1: half an epoch).
    chunk_size: pairs that the encoders take at a time, for memory; the losses see the whole batch all the
    same (training.engine). 0: the whole batch.
    length_groups: groups that a chunk's captions are sorted into by length, each padded to its own longest.
    precision: what the encoders compute in; "auto" is bfloat16 on a GPU that has it, else float32. Weights,
    their gradients and the losses are float32 always.
    explosion_factor, explosion_steps: a loss above so many times its running median for so many steps in a
    row ends the run.
    """

    epochs: int = Field(ge=1)
    batch_size: int = Field(ge=2)
    learning_rate: float = Field(gt=0)
    warmup_steps: int = Field(default=0, ge=0)
    freeze_encoder_epochs: float = Field(default=0.0, ge=0)
    schedule: Literal["constant", "linear"] = "constant"
    weight_decay: float = Field(default=0.0, ge=0)
    clip_norm: float | None = Field(default=None, gt=0)
    chunk_size: int = Field(default=0, ge=0)
    length_groups: int = Field(default=4, ge=1)
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    explosion_factor: float = Field(default=10.0, gt=1)
    explosion_steps: int = Field(default=20, ge=1)


class RunSettings(Table):
    """When a run validates and saves (both in epochs), and how many CPU threads it takes (0: all).

    keep: the model of the "best" validation, or the "last" one: what learns without pictures can't be judged
    by them.
    patience: validations in a row without a better one after which the run ends; 0: it never does.
    """

    validate_every: int = Field(default=1, ge=1)
    checkpoint_every: int = Field(default=1, ge=1)
    threads: int = Field(default=0, ge=0)
    keep: Literal["best", "last"] = "best"
    patience: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _patience_has_a_best(self) -> "RunSettings":
        if self.patience and self.keep == "last":
            raise ValueError('patience waits for a better validation: it needs keep = "best"')
        return self
