"""The two branches: sentences and pictures into one space (globetrotter, 3.5)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.data.companions import Companions
from training.encoders.adapted import Adapted
from training.encoders.adversary import LanguageClassifier
from training.encoders.bag import Bag
from training.encoders.gru import GRU
from training.encoders.heads import ClozeHead, LearnedScale, build_head
from training.encoders.hybrid import Hybrid
from training.encoders.masked_pairs import Layers, MaskedModel, Rebuilt, hide_words
from training.encoders.masking import mask_tokens
from training.encoders.pretrained import Pretrained, PretrainedSettings
from training.encoders.transformer import Transformer
from training.encoders.translation import Translation
from training.encoders.universal import Universal
from training.encoders.vision import Backbone
from training.objectives import (
    BackTranslation,
    Cloze,
    Denoising,
    MaskedCrossLanguage,
    MaskedTriplet,
    Need,
    Objective,
    Outputs,
)
from training.recipes.recipe import Recipe

Pair = tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]
TextEncoder = Adapted | Bag | GRU | Hybrid | Pretrained | Transformer | Universal


@dataclass(frozen=True)
class Batch:
    """N captions and their pictures.

    ids, mask: (N, T) int64. pictures: V tensors, a view each: pixels (N, 3, S, S) where the backbone is
    tuned, features (N, F) where it is frozen. beside: what only some objectives need. spans: (rows, tokens)
    of successive groups that the text encoder takes by themselves, cut to their longest; () is all at once.
    inactive: the objectives that this batch is not about (training.recipes.schedule).
    """

    ids: Tensor
    mask: Tensor
    pictures: tuple[Tensor, ...]
    beside: Companions = field(default_factory=Companions)
    spans: tuple[tuple[int, int], ...] = ()
    inactive: frozenset[str] = frozenset()

    def with_mined(self, pairs: Pair) -> "Batch":
        """The same with mined pairs beside it."""
        return replace(self, beside=replace(self.beside, mined=pairs))

    def with_halves(self, halves: Pair) -> "Batch":
        """The same with halves of sentences beside it."""
        return replace(self, beside=replace(self.beside, halves=halves))

    def groups(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Ids and mask of each span."""
        start = 0
        for rows, tokens in self.spans or (tuple(self.ids.shape),):
            part = slice(start, start + rows), slice(0, tokens)
            yield self.ids[part], self.mask[part]
            start += rows


class TwoBranch(nn.Module):
    """A text encoder and a picture branch, each ending on the unit sphere of `head.dimension` dimensions.

    `features` is F, the width of the picture features; `backbone` is given where it is tuned, `text` where it
    is pretrained. In a "whitened" space the picture branch has no parameters: its input is the space.
    """

    def __init__(
        self,
        recipe: Recipe,
        vocabulary: int,
        features: int,
        backbone: Backbone | None,
        text: Pretrained | None = None,
    ) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.languages = len(recipe.data.languages)
        self.text: TextEncoder = text or _built(recipe, vocabulary)
        dimension = recipe.head.dimension
        self.text_head = build_head(recipe.head.text, self.text.width, dimension)
        self.backbone = backbone
        kind = recipe.head.pictures if recipe.vision.space == "learned" else "none"
        self.picture_head = build_head(kind, features, dimension)
        self.scale = LearnedScale() if "scale" in recipe.needs else None
        self.objectives = recipe.objectives
        self.adversary: LanguageClassifier | None = None
        if "adversary" in recipe.needs:
            inner = getattr(self.text, "inner_width", self.text.width)
            self.adversary = LanguageClassifier(inner, len(recipe.data.languages))
        self.cross_language = _only(MaskedCrossLanguage, recipe)
        self.masked_model: MaskedModel | None = None
        if self.cross_language:
            inner = getattr(self.text, "inner_width", self.text.width)
            self.masked_model = MaskedModel(inner, dimension)
        self.masked_triplet = _only(MaskedTriplet, recipe)
        self.cloze = _only(Cloze, recipe)
        self.cloze_head: ClozeHead | None = None
        if self.cloze:
            assert isinstance(self.text.tokens, nn.Embedding), "the recipe's validation demands it"
            self.cloze_head = ClozeHead(self.text.tokens)
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
        needs = self._needs(batch)
        text, inner, cloze = self._text(batch)
        near = batch.beside.neighbours if "neighbours" in needs else None
        near_text, near_inner = self._layers(*near) if near else (None, None)
        half, other_half = self._both(batch.beside.halves if "halves" in needs else None) or (None, None)
        return Outputs(
            text,
            tuple(self.embed_pictures(pictures) for pictures in batch.pictures),
            cloze,
            partners=self._partners(batch, needs),
            mined=self._both(batch.beside.mined),
            whitened=batch.beside.whitened,
            neighbours=near_text,
            inner=inner if "inner" in needs else None,
            inner_neighbours=near_inner if "inner" in needs else None,
            spoken=self._spoken(batch) if "spoken" in needs else None,
            adversary=self._told_apart(batch, inner) if "adversary" in needs else None,
            scale=self.scale(len(text)) if self.scale else None,
            masked=self._masked(batch) if "masked" in needs else None,
            half=half,
            other_half=other_half,
            rebuilt=self._rebuilt(batch) if "rebuilt" in needs else (),
            adaptations=self.text.adaptations if isinstance(self.text, Adapted) else None,
            denoising=self._denoised(batch),
            back_translation=self._translated_back(batch),
        )

    @property
    def text_weights(self) -> int:
        """How many learned numbers there are from tokens to a sentence's embedding."""
        return sum(weights.numel() for part in (self.text, self.text_head) for weights in part.parameters())

    def set_trainable(self, encoders: bool) -> None:
        """Whether the encoders learn or only what is on top of them, the encoders staying as they are."""
        for part in (self.text, self.backbone):
            if part is not None:
                part.requires_grad_(encoders).train(encoders and self.training)

    def _needs(self, batch: Batch) -> frozenset[Need]:
        """What the objectives that the batch is about need."""
        active = (o for name, o in self.objectives.items() if name not in batch.inactive)
        return frozenset().union(*(objective.needs for objective in active))

    def _text(self, batch: Batch) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor] | None]:
        """z^l, the same sentences at the inner layer, and what the cloze asks."""
        if self.cloze is None:
            layers = [self._layers(ids, mask) for ids, mask in batch.groups()]
            text, inner = (torch.cat(part) for part in zip(*layers, strict=True))
            return text, inner, None
        parts = [self._text_and_cloze(self.cloze, ids, mask) for ids, mask in batch.groups()]
        text, inner, states, truth = (torch.cat(part) for part in zip(*parts, strict=True))
        return text, inner, (self._cloze_logits(states), truth)

    def _text_and_cloze(
        self, cloze: Cloze, ids: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """z^l and the inner layer, the states of the hidden tokens and these tokens."""
        masked, chosen = mask_tokens(ids, cloze.mask, self.vocabulary)
        states = self.text.states(masked, mask)
        text, inner = self._upwards(states, mask) if cloze.shared_pass else self._layers(ids, mask)
        return text, inner, states[chosen], ids[chosen]

    def _layers(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """z^l and the inner layer of sentences."""
        return self._upwards(self.text.states(ids, mask), mask)

    def _upwards(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Token states -> z^l (N, D), and the inner layer (N, U), if need be what comes to the head."""
        pooled = self.text.pool(states, mask)
        inner = self.text.inner(states, mask) if isinstance(self.text, Hybrid | Universal) else pooled
        return self.text_head(pooled), inner

    def _hidden(self, ids: Tensor, mask: Tensor, share: float) -> Layers:
        """z^l of sentences with words as <mask>, and the inner layer without them."""
        masked, kept = hide_words(ids, mask, share)
        states = self.text.states(masked, mask)
        inner = self.text.inner if isinstance(self.text, Hybrid | Universal) else self.text.pool
        return self.text_head(self.text.pool(states, mask)), inner(states, kept)

    def _masked(self, batch: Batch) -> Tensor:
        assert self.masked_triplet is not None
        return self._hidden(batch.ids, batch.mask, self.masked_triplet.mask)[0]

    def _rebuilt(self, batch: Batch) -> Rebuilt:
        assert self.cross_language is not None
        assert self.masked_model is not None
        pair: Pair | None = batch.beside.mined
        if self.cross_language.of == "partners":
            pair = ((batch.ids, batch.mask), batch.beside.partners) if batch.beside.partners else None
        if pair is None:
            return ()
        one, other = (self._hidden(*side, self.cross_language.mask) for side in pair)
        whole = self._layers(*pair[0]), self._layers(*pair[1])
        found: Rebuilt = self.masked_model((one, other), whole)
        return found

    def _partners(self, batch: Batch, needs: frozenset[Need]) -> Tensor | None:
        if batch.beside.partners is None or "partners" not in needs:
            return None
        return self.embed_text(*batch.beside.partners)

    def _spoken(self, batch: Batch) -> Tensor:
        """(N, L), 1 at each sentence's language."""
        languages = batch.beside.languages
        assert languages is not None, "a loop gives them"
        return F.one_hot(languages, self.languages).float()

    def _told_apart(self, batch: Batch, inner: Tensor) -> tuple[Tensor, Tensor]:
        """The classifier's logits, and the languages."""
        languages = batch.beside.languages
        assert self.adversary is not None
        assert languages is not None, "a loop gives them"
        return self.adversary(inner), languages

    def _both(self, pair: Pair | None) -> tuple[Tensor, Tensor] | None:
        return (self.embed_text(*pair[0]), self.embed_text(*pair[1])) if pair else None

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


def _built(recipe: Recipe, vocabulary: int) -> TextEncoder:
    assert not isinstance(recipe.text, PretrainedSettings), "a pretrained one is given"
    return recipe.text.build(vocabulary, len(recipe.data.languages))


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
