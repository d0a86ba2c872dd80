"""SMALR's masked cross-language model (Burns et al. 2020, 3.2 and 7.4).

Masked words of two sentences about one picture, in two languages, are predicted from the rest of both.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from training.data.tokens import MASK_ID, SPECIAL_TOKENS
from training.encoders.two_branch import TwoBranch
from training.objectives.base import Forward, Objective, Rows, Step, Tables, named
from training.papers.mule.losses import Triplet
from training.papers.shared.suppliers import several_captions


@named("masked_cross_language")
class MaskedCrossLanguage(Objective):
    """L_mask, eq. 2: mean over pairs (i, j) and over the layers of
    ‖ℓ2(S_i^m + S_i') - ℓ2(S_i)‖ + ‖ℓ2(S_j^m + S_j') - ℓ2(S_j)‖.

    S is a whole sentence, S^m the sentence with words masked, S' what a layer shared by all languages adds to
    it (`MaskedPairs`), at the universal layer, where masked words are left out of the mean, and at the last,
    where each is <mask>.
    mask: the probability that a word is masked.
    """

    by_term: ClassVar[bool] = True
    rows: ClassVar[tuple[str, ...]] = ("text",)

    mask: float = Field(default=0.2, gt=0, lt=1)

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"partners"})  # as tokens, which `compute` masks

    def requires(self, recipe: Tables) -> Iterator[str]:
        yield from several_captions(recipe)

    def modules(self, model: TwoBranch) -> dict[str, Callable[[], nn.Module]]:
        return {"masked_pairs": lambda: MaskedModel(model.text.inner_width, model.dimension)}

    def compute(self, forward: Forward) -> dict[str, tuple[Tensor, ...]]:
        partners = forward.batch.auxiliary["partners"]
        assert isinstance(partners, tuple), "supplied as sentences"
        pair = ((forward.batch.ids, forward.batch.mask), *partners)
        hidden = [embed_hidden(forward.model, *side, self.mask) for side in pair]
        whole = [forward.model.embed_layers(*side) for side in pair]
        return {"completed": forward.model.learned["masked_pairs"](hidden, whole)}

    def terms(self, step: Step) -> int:
        return len(step["completed"][0])

    def __call__(self, step: Step) -> Tensor:
        rows = step["completed"]
        losses = [
            (completed - target).norm(dim=1).mean()
            for completed, target in zip(rows[::2], rows[1::2], strict=True)
        ]
        return 2 * torch.stack(losses).mean()  # the sentences of both sides are in one mean


@named("masked_triplet")
class MaskedTriplet(Triplet):
    """Image-sentence matching, eq. 3, with words of the sentences masked (3.3).

    mask: the probability that a word is masked.
    """

    mask: float = Field(default=0.2, gt=0, lt=1)

    def compute(self, forward: Forward) -> dict[str, tuple[Tensor, ...]]:
        batch = forward.batch
        return {"masked": embed_hidden(forward.model, batch.ids, batch.mask, self.mask)[:1]}

    def __call__(self, step: Step) -> Tensor:
        return super().__call__(Step(step.rows | {"text": step["masked"]}))


class MaskedPairs(nn.Module):
    """Completes two masked sentences at one layer, each from both.

    One affine map, shared by all pairs of languages: (N, width) twice -> (2N, width) unit rows, the first
    sentences' before the second's.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.missing = nn.Linear(2 * width, 2 * width)

    def forward(self, first_hidden: Tensor, second_hidden: Tensor) -> Tensor:
        remaining = torch.cat([first_hidden, second_hidden], dim=1)
        first, second = (remaining + self.missing(remaining)).chunk(2, dim=1)
        return F.normalize(torch.cat([first, second]).float(), dim=1)


class MaskedModel(nn.Module):
    """MaskedPairs at the two layers where SMALR compares: the universal one and the last."""

    def __init__(self, inner: int, dimension: int) -> None:
        super().__init__()
        self.inner, self.last = MaskedPairs(inner), MaskedPairs(dimension)

    def forward(self, hidden: Sequence[Rows], whole: Sequence[Rows]) -> Rows:
        """Complete N sentences and their N counterparts, each given at (last, inner) layer.

        hidden: with words masked; whole: without. Returns for each layer 2N unit rows completed and 2N whole.
        """
        rows: list[Tensor] = []
        for layer, pairs in enumerate((self.last, self.inner)):
            truth = torch.cat([side[layer] for side in whole]).float()
            rows += [pairs(hidden[0][layer], hidden[1][layer]), F.normalize(truth, dim=1)]
        return tuple(rows)


def embed_hidden(model: TwoBranch, ids: Tensor, mask: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """Embed sentences with words masked: z^l (N, D), and the inner layer without these words (N, U)."""
    masked, kept_mask = hide_words(ids, mask, share)
    states = model.text.states(masked, mask)
    last: Tensor = model.text_head(model.text.pool(states, mask))
    inner = model.text.inner(states, kept_mask)
    return last, model.text.pool(states, kept_mask) if inner is None else inner


def hide_words(ids: Tensor, mask: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """Mask tokens: ids and mask (N, T) -> the ids with some as <mask>, and the mask without these.

    Each ordinary token is hidden with probability `share`; one of a sentence always stays. Draws from torch's
    global generator, which is seeded for each chunk.
    """
    chance = torch.rand(ids.shape, device=ids.device)
    ordinary = (mask == 1) & (ids >= len(SPECIAL_TOKENS))
    spared = chance == chance.masked_fill(~ordinary, -1).amax(dim=1, keepdim=True)
    hidden = ordinary & (chance < share) & ~spared
    return ids.masked_fill(hidden, MASK_ID), mask.masked_fill(hidden, 0)
