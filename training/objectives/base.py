"""What a model gives an objective, and what an objective is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import torch
import torch.nn.functional as F
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

Need = Literal[
    "partners",
    "mined",
    "whitened",
    "adaptations",
    "decoder",
    "scale",
    "neighbours",
    "inner",
    "spoken",
    "adversary",
    "masked",
    "rebuilt",
    "halves",
]

# The fields of Outputs with a row for each pair, where they are there.
ROWS = (
    "partners",
    "whitened",
    "scale",
    "neighbours",
    "inner",
    "inner_neighbours",
    "spoken",
    "masked",
    "half",
    "other_half",
)


@dataclass(frozen=True)
class Outputs:
    """One batch of N captioned pictures after both branches; row i of each tensor is pair i.

    text:     (N, D) unit rows, z^l, the sentences' embeddings.
    views:    V tensors (N, D) of unit rows, z^v, the pictures' embeddings, one for each augmented view.
    cloze:    logits (M, vocabulary) of the M masked tokens and their true ids (M,).

    What follows is None unless an objective `needs` it:
    partners:    (N, D) unit rows, another sentence about each picture, in another language.
    mined:       two (N, D) of unit rows, N pairs of sentences that were mined (training.mining), these having
                 nothing to do with the N captions; None before the first round of mining.
    whitened:    (N, K) unit rows, the pictures in a fixed space (training.data.whitening).
    scale:       (N, 1), the learned t that similarities are multiplied by, the same in each row.
    neighbours:  (N, D) unit rows, another sentence about each picture, in whatever language; the sentence
                 itself where there is no other.
    inner:       (N, U), the sentences at the encoder's universal layer, or as they come to the head.
    inner_neighbours: (N, U), the neighbours there.
    spoken:      (N, L), 1 at the place of each sentence's language, 0 elsewhere.
    masked:      (N, D) unit rows, the sentences with some of their words hidden.
    half, other_half: (N, D) unit rows, the halves of N sentences of one language, not those of the captions.
    rebuilt:     for each of two layers, 2P unit rows of P pairs of sentences with words hidden, completed
                 from each other, and the 2P whole sentences.
    adversary:   language logits (N, L) of `inner`, through which gradients are reversed, and the truth (N,).
    adaptations: (L, W, W), the square matrix that each language's word vectors go through.
    denoising, back_translation: logits (M, vocabulary) of the M tokens to be written, and those tokens (M,).
    """

    text: Tensor
    views: tuple[Tensor, ...]
    cloze: tuple[Tensor, Tensor] | None = None
    partners: Tensor | None = None
    mined: tuple[Tensor, Tensor] | None = None
    whitened: Tensor | None = None
    scale: Tensor | None = None
    neighbours: Tensor | None = None
    inner: Tensor | None = None
    inner_neighbours: Tensor | None = None
    spoken: Tensor | None = None
    masked: Tensor | None = None
    half: Tensor | None = None
    other_half: Tensor | None = None
    adversary: tuple[Tensor, Tensor] | None = None
    rebuilt: tuple[tuple[Tensor, Tensor], ...] = ()
    adaptations: Tensor | None = None
    denoising: tuple[Tensor, Tensor] | None = None
    back_translation: tuple[Tensor, Tensor] | None = None

    @property
    def rows(self) -> tuple[Tensor, ...]:
        """All fields with a row for each pair."""
        some = (*(getattr(self, name) for name in ROWS), *(self.mined or ()))
        return (self.text, *self.views, *(field for field in some if field is not None))

    def with_rows(self, rows: Sequence[Tensor]) -> "Outputs":
        """Other rows in the place of `rows`, in their order, and nothing else."""
        views, rest = tuple(rows[1 : 1 + len(self.views)]), list(rows[1 + len(self.views) :])
        some: dict[str, Any] = {name: rest.pop(0) for name in ROWS if getattr(self, name) is not None}
        return Outputs(rows[0], views, mined=(rest[0], rest[1]) if self.mined else None, **some)

    def float(self) -> "Outputs":
        """The same in float32, which softmaxes need."""
        return replace(
            self.with_rows([row.float() for row in self.rows]),
            adaptations=self.adaptations,
            cloze=_float(self.cloze),
            adversary=_float(self.adversary),
            rebuilt=tuple((told.float(), whole.float()) for told, whole in self.rebuilt),
            denoising=_float(self.denoising),
            back_translation=_float(self.back_translation),
        )


class Objective(BaseModel):
    """One loss of a recipe: its settings are its fields, calling it gives the loss of a batch.

    `weight` is the λ that the loss is multiplied with in the sum (globetrotter, eq. 5).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    views_needed: ClassVar[int] = 1

    weight: float = Field(default=1.0, gt=0)

    @property
    def needs(self) -> frozenset[Need]:
        """What a model must give beyond texts, views and cloze (see `Outputs`)."""
        return frozenset()

    def __call__(self, outputs: Outputs) -> Tensor:
        """The unweighted loss, a scalar."""
        raise NotImplementedError

    def terms(self, outputs: Outputs) -> int | None:
        """How many things the loss is a mean of, where each is judged by itself: a batch may then be cut, and
        its loss is the mean of its parts' losses, weighted by this. None where rows meet."""
        return None


class Contrastive(Objective):
    """An objective with a softmax over similarities, sharpened by a temperature τ."""

    temperature: float = Field(default=0.1, gt=0)


def _float(tokens: tuple[Tensor, Tensor] | None) -> tuple[Tensor, Tensor] | None:
    return (tokens[0].float(), tokens[1]) if tokens else None


def unit_similarity(a: Tensor, b: Tensor) -> Tensor:
    """Cosine of unit rows scaled to [0, 1] (globetrotter, B.1): (N, D), (M, D) -> (N, M)."""
    return (1 + a @ b.T) / 2


def partner_loss(one: Tensor, other: Tensor, temperature: float) -> Tensor:
    """Eq. 1 over 2N sentences (N, D), (N, D), where α is 1 for row i of both and 0 for all else."""
    both = torch.cat([one, other])
    logits = unit_similarity(both, both) / temperature
    itself = torch.eye(len(both), dtype=torch.bool, device=both.device)
    partner = torch.arange(len(both), device=both.device).roll(len(one))
    return F.cross_entropy(logits.masked_fill(itself, float("-inf")), partner)
