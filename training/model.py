"""The two branches: sentences and pictures into one space (globetrotter, 3.5)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import torch
from torch import Tensor, nn

from training.data.companions import Companions
from training.encoders.adapted import Adapted
from training.encoders.heads import ClozeHead, PredictionHead, UnitNorm
from training.encoders.masking import mask_tokens
from training.encoders.transformer import Transformer
from training.encoders.translation import Translation
from training.encoders.vision import Backbone
from training.objectives import BackTranslation, Cloze, Denoising, Objective, Outputs
from training.recipe import Recipe


@dataclass(frozen=True)
class Batch:
    """N captions and their pictures.

    ids, mask: (N, T) int64. pictures: V tensors, a view each: pixels (N, 3, S, S) where the backbone is
    tuned, features (N, F) where it is frozen. beside: what only some objectives need. spans: (rows, tokens)
    of successive groups that the text encoder takes by themselves, cut to their longest; () is all at once.
    """

    ids: Tensor
    mask: Tensor
    pictures: tuple[Tensor, ...]
    beside: Companions = field(default_factory=Companions)
    spans: tuple[tuple[int, int], ...] = ()

    def with_mined(self, pairs: tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]) -> "Batch":
        """The same with mined pairs beside it."""
        return replace(self, beside=replace(self.beside, mined=pairs))

    def groups(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Ids and mask of each span."""
        start = 0
        for rows, tokens in self.spans or (tuple(self.ids.shape),):
            part = slice(start, start + rows), slice(0, tokens)
            yield self.ids[part], self.mask[part]
            start += rows


class TwoBranch(nn.Module):
    """A text encoder and a picture branch, each ending on the unit sphere of `head.dimension` dimensions.

    `features` is F, the width of the picture features; `backbone` is given where it is tuned. In a
    "whitened" space the picture branch has no parameters: its input is the space.
    """

    def __init__(self, recipe: Recipe, vocabulary: int, features: int, backbone: Backbone | None) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.text = recipe.text.build(vocabulary, len(recipe.data.languages))
        dimension = recipe.head.dimension
        self.text_head: nn.Module = UnitNorm()
        if recipe.head.text == "mlp":
            self.text_head = PredictionHead(self.text.width, dimension)
        self.backbone = backbone
        self.picture_head: nn.Module = UnitNorm()
        if recipe.vision.space == "learned":
            self.picture_head = PredictionHead(features, dimension)
        self.cloze = _only(Cloze, recipe)
        self.cloze_head = ClozeHead(self.text.tokens) if self.cloze else None
        self.denoising, self.back = _only(Denoising, recipe), _only(BackTranslation, recipe)
        self.translation: Translation | None = None
        if "decoder" in recipe.needs and isinstance(self.text, Transformer):
            self.translation = Translation(self.text, len(recipe.data.languages))

    def embed_text(self, ids: Tensor, mask: Tensor) -> Tensor:
        """z^l: (N, T) ids and mask -> (N, D) unit rows."""
        out: Tensor = self.text_head(self.text(ids, mask))
        return out

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """z^v: pixels (N, 3, S, S) or features (N, F) -> (N, D) unit rows."""
        features = self.backbone(pictures) if self.backbone is not None else pictures
        out: Tensor = self.picture_head(features)
        return out

    def forward(self, batch: Batch) -> Outputs:
        text, cloze = self._text(batch)
        return Outputs(
            text,
            tuple(self.embed_pictures(pictures) for pictures in batch.pictures),
            cloze,
            partners=self.embed_text(*batch.beside.partners) if batch.beside.partners else None,
            mined=self._mined(batch),
            whitened=batch.beside.whitened,
            adaptations=self.text.adaptations if isinstance(self.text, Adapted) else None,
            denoising=self._denoised(batch),
            back_translation=self._translated_back(batch),
        )

    def _text(self, batch: Batch) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
        """z^l and what the cloze asks."""
        if self.cloze is None:
            return torch.cat([self.embed_text(ids, mask) for ids, mask in batch.groups()]), None
        parts = [self._text_and_cloze(self.cloze, ids, mask) for ids, mask in batch.groups()]
        text, states, truth = (torch.cat(part) for part in zip(*parts, strict=True))
        return text, (self._cloze_logits(states), truth)

    def _text_and_cloze(self, cloze: Cloze, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """z^l, the states of the hidden tokens and these tokens."""
        masked, chosen = mask_tokens(ids, cloze.mask, self.vocabulary)
        states = self.text.states(masked, mask)
        if cloze.shared_pass:
            text = self.text_head(self.text.pool(states, mask))
        else:
            text = self.embed_text(ids, mask)
        return text, states[chosen], ids[chosen]

    def _mined(self, batch: Batch) -> tuple[Tensor, Tensor] | None:
        if batch.beside.mined is None:
            return None
        one, other = batch.beside.mined
        return self.embed_text(*one), self.embed_text(*other)

    def _denoised(self, batch: Batch) -> tuple[Tensor, Tensor] | None:
        if self.denoising is None:
            return None
        encoder, translation, languages = self._translation(batch)
        return translation.denoise(encoder, self.denoising, batch.ids, batch.mask, languages)

    def _translated_back(self, batch: Batch) -> tuple[Tensor, Tensor] | None:
        if self.back is None:
            return None
        encoder, translation, languages = self._translation(batch)
        return translation.translate_back(encoder, self.back.share, batch.ids, batch.mask, languages)

    def _translation(self, batch: Batch) -> tuple[Transformer, Translation, Tensor]:
        languages = batch.beside.languages
        assert isinstance(self.text, Transformer)
        assert self.translation is not None
        assert languages is not None, "a loop gives them"
        return self.text, self.translation, languages

    def _cloze_logits(self, states: Tensor) -> Tensor:
        assert self.cloze_head is not None
        out: Tensor = self.cloze_head(states)
        return out


Kind = TypeVar("Kind", bound=Objective)


def _only(kind: type[Kind], recipe: Recipe) -> Kind | None:
    """The recipe's objective of that kind, if it has one."""
    return next((o for o in recipe.objectives.values() if isinstance(o, kind)), None)


def weighted_losses(objectives: Mapping[str, Objective], outputs: Outputs) -> dict[str, Tensor]:
    """Objective -> its loss times its weight; their sum is what is minimised (globetrotter, eq. 5)."""
    return {name: objective.weight * objective(outputs) for name, objective in objectives.items()}


def pick_device() -> torch.device:
    """This process's GPU where there is one."""
    if torch.cuda.is_available():
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu")
