"""Globetrotter's losses that no shipped recipe has: token cloze, contrast of two views, and the ceiling's."""

from collections.abc import Callable, Iterator
from typing import ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from training.data.tokens import MASK_ID, SPECIAL_TOKENS
from training.encoders.two_branch import TwoBranch
from training.objectives.base import Contrastive, Forward, Objective, Step, Tables, named, partner_loss
from training.papers.shared.suppliers import several_captions

REPLACED, RANDOM = 0.8, 0.1  # shares of the chosen tokens; the rest stay as they are


@named("cloze")
class Cloze(Objective):
    """Cross-entropy of the hidden tokens.

    A token is chosen with probability `mask`; 80 % of the chosen become <mask>, 10 % a random token, 10 %
    stay as they are. The contrastive losses see whole sentences (masked ones in the published code).
    """

    by_term: ClassVar[bool] = True

    mask: float = Field(default=0.15, gt=0, lt=1)

    rows: ClassVar[tuple[str, ...]] = ("text",)

    def requires(self, recipe: Tables) -> Iterator[str]:
        if not recipe.text.shares_embeddings:
            yield "token embeddings that all languages share"

    def modules(self, model: TwoBranch) -> dict[str, Callable[[], nn.Module]]:
        return {"cloze": lambda: ClozeHead(model.text.get_submodule("tokens"))}

    def compute(self, forward: Forward) -> dict[str, tuple[Tensor, ...]]:
        """Hide tokens of each group of captions, in a forward pass of its own."""
        states, truth = [], []
        for ids, mask in forward.batch.groups():
            masked, chosen = mask_tokens(ids, self.mask, forward.model.vocabulary)
            states.append(forward.model.text.states(masked, mask)[chosen])
            truth.append(ids[chosen])
        return {"cloze": (forward.model.learned["cloze"](torch.cat(states)), torch.cat(truth))}

    def terms(self, step: Step) -> int:
        return len(step["cloze"][1])

    def __call__(self, step: Step) -> Tensor:
        logits, truth = step["cloze"]
        return F.cross_entropy(logits, truth) if len(truth) else logits.sum() * 0


class ClozeHead(nn.Module):
    """Hidden states to token logits, tied to the token embeddings: (M, width) -> (M, vocabulary)."""

    def __init__(self, tokens: nn.Module) -> None:
        super().__init__()
        assert isinstance(tokens, nn.Embedding), "Cloze.requires demands it"
        width = tokens.embedding_dim
        self.transform = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self.tokens = tokens
        self.bias = nn.Parameter(tokens.weight.new_zeros(tokens.num_embeddings))

    def forward(self, states: Tensor) -> Tensor:
        return F.linear(self.transform(states), self.tokens.weight, self.bias)


def mask_tokens(ids: Tensor, share: float, vocabulary: int) -> tuple[Tensor, Tensor]:
    """Token ids (N, T) -> (masked ids (N, T), chosen (N, T) bool).

    Each ordinary token is chosen with probability `share`; special tokens never. Draws from torch's global
    generator, which is seeded for each chunk.
    """
    chosen = (torch.rand(ids.shape, device=ids.device) < share) & (ids >= len(SPECIAL_TOKENS))
    fate = torch.rand(ids.shape, device=ids.device)
    random = torch.randint(
        len(SPECIAL_TOKENS), max(vocabulary, len(SPECIAL_TOKENS) + 1), ids.shape, device=ids.device
    )
    masked = ids.masked_fill(chosen & (fate < REPLACED), MASK_ID)
    swapped = chosen & (fate >= REPLACED) & (fate < REPLACED + RANDOM)
    return torch.where(swapped, random, masked), chosen


@named("visual_contrastive")
class VisualContrastive(Contrastive):
    """Mean over the 2N views i of -log softmax_{k≠i}(α^v_ik/τ) at the picture's other view."""

    rows: ClassVar[tuple[str, ...]] = ("views",)

    def requires(self, recipe: Tables) -> Iterator[str]:
        if not recipe.vision.gives_two_views:
            yield 'vision.space = "learned" and two views that are not averaged'

    def __call__(self, step: Step) -> Tensor:
        return partner_loss(step.views[:2], self.temperature)


@named("paired")
class Paired(Contrastive):
    """Mean over 2N sentences i of -log softmax_{k≠i}(β_ik/τ) at the sentence that i is paired with.

    Eq. 1 over N sentences and their N partners, with α_ij = 1 where j is i's partner and 0 elsewhere: what
    the transitive loss would be if it knew the translations.
    """

    rows: ClassVar[tuple[str, ...]] = ("text", "partners")

    def requires(self, recipe: Tables) -> Iterator[str]:
        yield from several_captions(recipe)

    def __call__(self, step: Step) -> Tensor:
        return partner_loss((step.text, *step["partners"]), self.temperature)
