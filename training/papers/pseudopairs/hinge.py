"""The max-violation hinge (Kádár et al. 2019, 2; Faghri et al. 2017): only the hardest negative counts."""

from collections.abc import Iterator
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from training.objectives.base import Objective, Rows, Step, Tables, named
from training.papers.pseudopairs.transferred import supplied
from training.papers.shared.suppliers import several_captions


@named("hinge")
class Hinge(Objective):
    """Mean over pairs (a_i, b_i) and views of
    max_{j≠i} max(0, α - s(a_i, b_i) + s(a_j, b_i)) + max_{j≠i} max(0, α - s(a_i, b_i) + s(a_i, b_j)),
    a pictures, b captions, s the cosine. The published code sums over pairs: a matter of the weight.
    """

    margin: float = Field(default=0.2, gt=0, le=2)

    def __call__(self, step: Step) -> Tensor:
        return self.between(step.views, step.text)

    def between(self, views: Rows, captions: Tensor) -> Tensor:
        """The loss of views, each (N, D) and row i about what row i of the captions (N, D) says."""
        return torch.stack([max_violation(view @ captions.T, self.margin) for view in views]).mean()


@named("whole_hinge")
class WholeHinge(Hinge):
    """The hinge with the mean over all negatives instead of the hardest (sum of hinges, Faghri et al. 2017).

    It separates collapsed embeddings, among which the hardest negative is arbitrary.
    """

    def __call__(self, step: Step) -> Tensor:
        losses = [mean_violation(view @ step.text.T, self.margin) for view in step.views]
        return torch.stack(losses).mean()


@named("caption_hinge")
class CaptionHinge(Hinge):
    """c2c: the hinge between captions of one picture in two languages, a caption and its partner."""

    rows: ClassVar[tuple[str, ...]] = ("text", "partners")

    def requires(self, recipe: Tables) -> Iterator[str]:
        yield from several_captions(recipe)

    def __call__(self, step: Step) -> Tensor:
        return self.between((step.text,), step["partners"][0])


@named("transferred_hinge")
class TransferredHinge(Hinge):
    """The hinge between pictures and captions that were transferred to them (`transferred`).

    filter: "top" keeps the 25 % most similar pairs of each two languages, "bottom" drops the 25 % least
    similar. 0 in a run that begins anew, where there are none.
    """

    beside: ClassVar[str] = "views"

    filter: Literal["none", "top", "bottom"] = "none"

    @property
    def reads(self) -> frozenset[str]:
        return frozenset({self.beside, supplied(self.filter)})

    def __call__(self, step: Step) -> Tensor:
        if supplied(self.filter) not in step:
            return step.text.new_zeros(())
        return self.between(step[self.beside], step[supplied(self.filter)][0])


@named("transferred_caption_hinge")
class TransferredCaptionHinge(TransferredHinge):
    """c2c: the hinge between captions and those that were transferred to their pictures."""

    beside: ClassVar[str] = "text"


def max_violation(similarities: Tensor, margin: float) -> Tensor:
    """Mean over pairs of the largest violation in both directions: (N, N), positives on the diagonal.

    A batch of one pair has no negatives: 0.
    """
    positives = similarities.diagonal()
    itself = torch.eye(len(positives), dtype=torch.bool, device=positives.device)
    rivals = similarities.masked_fill(itself, float("-inf"))
    by_row = (margin - positives + rivals.amax(dim=1)).clamp(min=0)
    by_column = (margin - positives + rivals.amax(dim=0)).clamp(min=0)
    return (by_row + by_column).mean()


def mean_violation(similarities: Tensor, margin: float) -> Tensor:
    """Mean over pairs and all negatives of the violations in both directions: (N, N) as above."""
    positives = similarities.diagonal()
    negatives = ~torch.eye(len(positives), dtype=torch.bool, device=positives.device)
    by_row = (margin - positives[:, None] + similarities).clamp(min=0)
    by_column = (margin - positives[None, :] + similarities).clamp(min=0)
    return ((by_row + by_column) * negatives).sum() / max(1, len(positives) * (len(positives) - 1))
