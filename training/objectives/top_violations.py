"""MULE's triplet losses (Kim et al. 2020, eq. 1 to 3): the K most violated constraints of each anchor."""

import torch
from pydantic import Field
from torch import Tensor

from training.objectives.base import Need, Objective, Outputs


class Triplet(Objective):
    """Image-sentence matching, eq. 3: mean over pairs (f_i, s_i), views and the K largest of
    max(0, d(f_i, s_i) - d(f_i, s_j) + m) over sentences s_j in the language of s_i, and the same from s_i
    over other pictures f_j, times `from_sentences`; d is 1 - cosine.

    m and `from_sentences` are what SMALR (Burns et al. 2020) says of its prior work; K = 10 is MULE's.
    """

    margin: float = Field(default=0.05, gt=0, le=2)
    top: int = Field(default=10, ge=1)
    from_sentences: float = Field(default=1.5, ge=0)

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"spoken"})

    def __call__(self, outputs: Outputs) -> Tensor:
        assert outputs.spoken is not None, "the model says who speaks where an objective needs it"
        other = ~torch.eye(len(outputs.text), dtype=torch.bool, device=outputs.text.device)
        rivals = other & (outputs.spoken @ outputs.spoken.T > 0)
        losses = []
        for view in outputs.views:
            cosines = view @ outputs.text.T
            to_sentence = top_violations(cosines, cosines.diagonal(), rivals, self.margin, self.top)
            to_picture = top_violations(cosines.T, cosines.diagonal(), other, self.margin, self.top)
            losses.append(to_sentence + self.from_sentences * to_picture)
        return torch.stack(losses).mean()


class Neighbourhood(Objective):
    """The neighbourhood constraints at the multimodal layer, eq. 1's first half: mean over sentences s_i and
    the K largest of max(0, d(s_i, s_i+) - d(s_i, s_j) + m); s_i+ is another sentence about the picture, in
    whatever language, the s_j all sentences about others.
    """

    margin: float = Field(default=0.05, gt=0, le=2)
    top: int = Field(default=10, ge=1)

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"neighbours"})

    def __call__(self, outputs: Outputs) -> Tensor:
        assert outputs.neighbours is not None, "the model embeds neighbours where an objective needs them"
        return self.constraints(outputs.text, outputs.neighbours)

    def constraints(self, sentences: Tensor, neighbours: Tensor) -> Tensor:
        """Unit rows (N, D), row i of both about picture i: both are anchors, and rivals of all others."""
        own = (sentences * neighbours).sum(dim=1).repeat(2)
        every = torch.cat([sentences, neighbours])
        picture = torch.arange(len(sentences), device=every.device).repeat(2)
        rivals = picture[:, None] != picture[None, :]
        return top_violations(every @ every.T, own, rivals, self.margin, self.top)


class InnerNeighbourhood(Neighbourhood):
    """The same at the layer of the universal embedding, eq. 1's second half, on the sentences' mean words;
    in an encoder without such a layer on what it hands to the head."""

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"neighbours", "inner"})

    def __call__(self, outputs: Outputs) -> Tensor:
        assert outputs.inner is not None, "the model gives its inner layer where an objective needs it"
        assert outputs.inner_neighbours is not None
        inner, near = (
            torch.nn.functional.normalize(rows, dim=1) for rows in (outputs.inner, outputs.inner_neighbours)
        )
        return self.constraints(inner, near)


def top_violations(cosines: Tensor, own: Tensor, rivals: Tensor, margin: float, top: int) -> Tensor:
    """(N, M) cosines, (N,) that of each anchor's positive, (N, M) who its rivals are -> the mean, over
    anchors and the `top` largest, of max(0, m - own + rival); fewer rivals than `top` leave zeros."""
    violations = (margin - own[:, None] + cosines).clamp(min=0).masked_fill(~rivals, 0)
    return violations.topk(min(top, violations.shape[1]), dim=1).values.mean()
