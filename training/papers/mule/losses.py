"""MULE's losses (Kim et al. 2020): an adversarial language classifier, and triplets.

L_LC is eq. 2 and 4; of the triplets, eq. 1 to 3, the K most violated constraints of each anchor count.
"""

from collections.abc import Callable
from typing import ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
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
    rows: ClassVar[tuple[str, ...]] = ("inner", "languages")

    def modules(self, model: TwoBranch) -> dict[str, Callable[[], nn.Module]]:
        return {"adversary": lambda: LanguageClassifier(model.text.inner_width, model.languages)}

    def compute(self, forward: Forward) -> dict[str, tuple[Tensor, ...]]:
        (inner,), (places,) = forward["inner"], forward["languages"]
        return {"adversary": (forward.model.learned["adversary"](inner), places[:, 0])}

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


@named("triplet")
class Triplet(Objective):
    """Image-sentence matching, eq. 3: mean over pairs (f_i, s_i), views and the K largest of
    max(0, d(f_i, s_i) - d(f_i, s_j) + m) over sentences s_j in the language of s_i, and the same from s_i
    over other pictures f_j, times `from_sentences`; d is 1 - cosine.

    m and `from_sentences` are what SMALR (Burns et al. 2020) says of its prior work; K = 10 is MULE's.
    """

    margin: float = Field(default=0.05, gt=0, le=2)
    top: int = Field(default=10, ge=1)
    from_sentences: float = Field(default=1.5, ge=0)

    rows: ClassVar[tuple[str, ...]] = ("text", "views", "languages")

    def __call__(self, step: Step) -> Tensor:
        other_pairs = ~torch.eye(len(step.text), dtype=torch.bool, device=step.text.device)
        (language,) = step["languages"]
        rivals = other_pairs & (language == language.T)
        losses = []
        for view in step.views:
            cosines = view @ step.text.T
            to_sentence = top_violations(cosines, cosines.diagonal(), rivals, self.margin, self.top)
            to_picture = top_violations(cosines.T, cosines.diagonal(), other_pairs, self.margin, self.top)
            losses.append(to_sentence + self.from_sentences * to_picture)
        return torch.stack(losses).mean()


@named("neighbourhood")
class Neighbourhood(Objective):
    """The neighbourhood constraints at the multimodal layer, eq. 1's first half.

    Mean over sentences s_i and the K largest of max(0, d(s_i, s_i+) - d(s_i, s_j) + m); s_i+ is another
    sentence about the picture, in any language, the s_j all sentences about other pictures.
    """

    margin: float = Field(default=0.05, gt=0, le=2)
    top: int = Field(default=10, ge=1)

    rows: ClassVar[tuple[str, ...]] = ("text", "neighbours")

    def __call__(self, step: Step) -> Tensor:
        return self.constraints(step.text, step["neighbours"][0])

    def constraints(self, sentences: Tensor, neighbours: Tensor) -> Tensor:
        """The loss over unit rows (N, D), row i of both about picture i; both are anchors and rivals."""
        positives = (sentences * neighbours).sum(dim=1).repeat(2)
        anchors = torch.cat([sentences, neighbours])
        picture = torch.arange(len(sentences), device=anchors.device).repeat(2)
        rivals = picture[:, None] != picture[None, :]
        return top_violations(anchors @ anchors.T, positives, rivals, self.margin, self.top)


@named("inner_neighbourhood")
class InnerNeighbourhood(Neighbourhood):
    """The neighbourhood constraints at the universal layer, eq. 1's second half, on mean words.

    In an encoder without such a layer, on the input of the head.
    """

    rows: ClassVar[tuple[str, ...]] = ("inner", "inner_neighbours")

    def __call__(self, step: Step) -> Tensor:
        inner, inner_neighbours = step["inner"][0], step["inner_neighbours"][0]
        return self.constraints(F.normalize(inner, dim=1), F.normalize(inner_neighbours, dim=1))


def top_violations(cosines: Tensor, positives: Tensor, rivals: Tensor, margin: float, top: int) -> Tensor:
    """Mean of max(0, margin - positive + rival) over anchors and the `top` largest of each.

    cosines: (N, M). positives: (N,), each anchor's cosine to its positive. rivals: (N, M) bool; missing ones
    count as zeros.
    """
    violations = (margin - positives[:, None] + cosines).clamp(min=0).masked_fill(~rivals, 0)
    return violations.topk(min(top, violations.shape[1]), dim=1).values.mean()
