"""The table [transfer] of a recipe."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

KEPT = {"none": 1.0, "top": 0.25, "bottom": 0.75}  # the share of pairs that a filter keeps


class TransferSettings(BaseModel):
    """Captions in other languages that pictures are given: pseudopairs (Kádár et al. 2019, 2.2), or
    translations (2.3).

    start: a finished run, of whatever recipe, whose encoder finds the pseudopairs; "": this recipe without
    the table is trained first, into RUN-start beside the run.
    nearest: "cosine" gives each caption the nearest one of each other language, as in the paper; "mutual"
    only what is each other's nearest, by training.mining.
    filter: "top" keeps the 25 % of two languages' pairs that are most alike, "bottom" drops the 25 % that are
    least.
    then: "fine-tune" goes on from the start's best weights, "restart" begins anew.
    share: the probability that a picture which was given captions is shown with one of them.
    aligned: in place of pseudopairs, translations: the name of files text/NAME.LANG.txt whose line i says the
    same in each; a caption that stands there word for word gets its line's other languages.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    start: str = ""
    nearest: Literal["cosine", "mutual"] = "cosine"
    filter: Literal["none", "top", "bottom"] = "none"
    then: Literal["fine-tune", "restart"] = "fine-tune"
    share: float = Field(default=0.5, gt=0, lt=1)
    aligned: str = Field(default="", pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$|^$")

    @model_validator(mode="after")
    def _filters_have_similarities(self) -> "TransferSettings":
        if self.aligned and self.filter != "none":
            raise ValueError('translations have no similarity to filter by: leave filter = "none"')
        return self

    @property
    def keep(self) -> float:
        """The share of pairs that stays."""
        return KEPT[self.filter]

    @property
    def needs_start(self) -> bool:
        """Whether another run comes first."""
        return not self.aligned or self.then == "fine-tune"
