"""L_LC: an adversarial language classifier (MULE, Kim et al. 2020, eq. 2 and 4)."""

from collections.abc import Callable
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.encoders.two_branch import TwoBranch
from training.objectives.base import Forward, Objective, Step, named


@named("language_adversary")
class LanguageAdversary(Objective):
    """Cross-entropy of a language classifier on the sentences' inner layer.

    The classifier minimises it; the gradient that reaches the encoder is reversed: `weight` is λ2 of both
    lines of eq. 4.
    """

    by_term: ClassVar[bool] = True
    rows: ClassVar[tuple[str, ...]] = ("inner",)

    supplied: ClassVar[tuple[str, ...]] = ("languages",)

    def modules(self, model: TwoBranch) -> dict[str, Callable[[], nn.Module]]:
        return {"adversary": lambda: LanguageClassifier(model.text.inner_width, model.languages)}

    def compute(self, forward: Forward) -> dict[str, tuple[Tensor, ...]]:
        places = forward.batch.auxiliary["languages"]
        assert isinstance(places, Tensor), "supplied as numbers"
        return {"adversary": (forward.model.learned["adversary"](forward["inner"][0]), places[:, 0])}

    def __call__(self, step: Step) -> Tensor:
        logits, truth = step["adversary"]
        return F.cross_entropy(logits, truth)


class LanguageClassifier(nn.Module):
    """One linear layer, W_lc of MULE, eq. 2: sentence vectors (N, width) -> language logits (N, L).

    It learns to tell the languages apart; through a reversed gradient (Ganin & Lempitsky 2014) the encoder
    learns to make them indistinguishable.
    """

    def __init__(self, width: int, languages: int) -> None:
        super().__init__()
        self.layer = nn.Linear(width, languages)

    def forward(self, sentences: Tensor) -> Tensor:
        out: Tensor = self.layer(reversed_gradient(sentences))
        return out


def reversed_gradient(rows: Tensor) -> Tensor:
    """Return the rows unchanged, with their gradient reversed."""
    same = rows.view_as(rows)
    if same.requires_grad:
        same.register_hook(torch.neg)  # type: ignore[no-untyped-call]
    return same
