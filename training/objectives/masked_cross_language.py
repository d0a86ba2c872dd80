"""SMALR's masked cross-language model (Burns et al. 2020, 3.2): what is hidden of two sentences about one
picture, in two languages, is told from what is left of both."""

from dataclasses import replace
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from training.objectives.base import Need, Objective, Outputs
from training.objectives.top_violations import Triplet


class MaskedCrossLanguage(Objective):
    """L_mask, eq. 2: mean over pairs (i, j) and over the layers of
    ‖ℓ2(S_i^m + S_i') - ℓ2(S_i)‖ + ‖ℓ2(S_j^m + S_j') - ℓ2(S_j)‖.

    S is a whole sentence, S^m the same with words hidden, S' what a layer shared by all languages adds to it
    (training.encoders.masked_pairs); at the universal layer, where hidden words are left out of the mean, and
    at the last, where each is <mask>.
    mask: the probability of a word to be hidden. of: the sentence's "partners", in another language, or pairs
    that are "mined", where no picture has captions in two.
    """

    mask: float = Field(default=0.2, gt=0, lt=1)
    of: Literal["partners", "mined"] = "partners"

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"rebuilt", self.of})

    def terms(self, outputs: Outputs) -> int | None:
        return len(outputs.rebuilt[0][0]) if outputs.rebuilt else len(outputs.text)

    def __call__(self, outputs: Outputs) -> Tensor:
        if not outputs.rebuilt:  # nothing is mined yet
            return outputs.text.sum() * 0
        losses = [(told - whole).norm(dim=1).mean() for told, whole in outputs.rebuilt]
        return 2 * torch.stack(losses).mean()  # the sentences of both sides are in one mean


class MaskedTriplet(Triplet):
    """Image-sentence matching, eq. 3, with sentences some of whose words are hidden: most still say the same
    (3.3). mask: the probability of a word to be hidden."""

    mask: float = Field(default=0.2, gt=0, lt=1)

    @property
    def needs(self) -> frozenset[Need]:
        return super().needs | {"masked"}

    def __call__(self, outputs: Outputs) -> Tensor:
        assert outputs.masked is not None, "the model hides words where an objective needs it"
        return super().__call__(replace(outputs, text=outputs.masked))
