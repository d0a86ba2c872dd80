"""The baseline of Globetrotter, 5.1, after Lample & Conneau 2019: denoising and back-translation.

Sentences are written from an encoder's states by a decoder that both losses share. (The denoising is that of
Lample et al. 2018, Unsupervised Machine Translation Using Monolingual Corpora Only, eq. 1.)
"""

from collections.abc import Callable, Iterator
from typing import ClassVar, cast

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from training.data.tokens import MASK_ID, PAD_ID, SEQUENCE_ID, Texts
from training.encoders.two_branch import TwoBranch
from training.objectives.base import Forward, Objective, Step, Tables, named
from training.papers.globetrotter.transformer import Transformer, TransformerSettings

Terms = tuple[Tensor, Tensor]  # logits (M, vocabulary) and truth (M,)


class Writing(Objective):
    """Cross-entropy of the tokens of sentences that the decoder writes from other sentences.

    written: the name under which `compute` puts their logits and truth into the step.
    """

    by_term: ClassVar[bool] = True
    written: ClassVar[str]
    rows: ClassVar[tuple[str, ...]] = ("text",)

    supplied: ClassVar[tuple[str, ...]] = ("languages",)

    def requires(self, recipe: Tables) -> Iterator[str]:
        if not isinstance(recipe.text, TransformerSettings) or len(recipe.data.languages) < 2:
            yield 'text.encoder = "transformer" and two languages'

    def modules(self, model: TwoBranch) -> dict[str, Callable[[], nn.Module]]:
        return {"decoder": lambda: Decoder(model.text, model.languages)}

    def write(self, forward: Forward, source: Texts, target: Texts, languages: Tensor) -> Terms:
        """Logits and truth of the tokens of `target`, decoded from `source`."""
        decoder = forward.model.learned["decoder"]
        assert isinstance(decoder, Decoder)
        return decoder.surprise(forward.model.text.states(*source), source[1], *target, languages)

    def terms(self, step: Step) -> int:
        return len(step[self.written][1])

    def __call__(self, step: Step) -> Tensor:
        logits, truth = step[self.written]
        return F.cross_entropy(logits, truth)


class Decoder(nn.Module):
    """A transformer decoder of one layer, shared by all languages, over the encoder's own token embeddings.

    It begins with the language to write in and ends with <seq>; positions are the encoder's.
    """

    def __init__(self, encoder: nn.Module, languages: int) -> None:
        super().__init__()
        encoder = cast(Transformer, encoder)  # Writing.requires demands it
        settings = encoder.settings
        self.longest = settings.max_tokens
        self.languages = nn.Embedding(languages, settings.width)
        self.tokens, self.positions = encoder.tokens, encoder.positions
        self.norm = nn.LayerNorm(settings.width)
        self.layer = nn.TransformerDecoderLayer(
            settings.width,
            settings.heads,
            settings.feedforward,
            settings.dropout,
            activation="gelu",
            batch_first=True,
        )
        self.bias = nn.Parameter(torch.zeros(encoder.tokens.num_embeddings))
        nn.init.normal_(self.languages.weight, std=0.02)

    def surprise(
        self, states: Tensor, mask: Tensor, ids: Tensor, target_mask: Tensor, languages: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Logits (M, vocabulary) of the tokens to write, teacher-forced, and those tokens (M,).

        states (N, S, W), mask (N, S): the encoded source. ids, target_mask (N, T): the target, <seq> first.
        languages: (N,), those of the target.
        """
        hidden = self._hidden(states, mask, ids[:, 1:], languages)
        # <seq> w1 .. wn is written as w1 .. wn <seq>.
        truth = torch.cat([ids[:, 1:], torch.full_like(ids[:, :1], PAD_ID)], dim=1)
        last = target_mask.sum(dim=1, keepdim=True) - 1
        truth = truth.scatter(1, last, SEQUENCE_ID)
        real = target_mask == 1
        return self._logits(hidden[real]), truth[real]

    @torch.no_grad()
    def write(self, states: Tensor, mask: Tensor, languages: Tensor) -> tuple[Tensor, Tensor]:
        """Decode greedily: ids and mask (N, T), <seq> first, as encoders read.

        At most as long as the longest source.
        """
        steps = min(self.longest - 1, int(mask.sum(dim=1).max()))
        ids = states.new_empty((len(states), 0), dtype=torch.int64)
        for _ in range(steps):
            logits = self._logits(self._hidden(states, mask, ids, languages)[:, -1])
            logits[:, PAD_ID] = float("-inf")
            ids = torch.cat([ids, logits.argmax(dim=1, keepdim=True)], dim=1)
            if bool((ids == SEQUENCE_ID).any(dim=1).all()):
                break
        going = ((ids == SEQUENCE_ID).cumsum(dim=1) == 0).long()
        first = torch.full_like(languages[:, None], SEQUENCE_ID)
        return (
            torch.cat([first, ids.masked_fill(going == 0, PAD_ID)], dim=1),
            torch.cat([torch.ones_like(first), going], dim=1),
        )

    def _hidden(self, states: Tensor, mask: Tensor, written: Tensor, languages: Tensor) -> Tensor:
        """States (N, T + 1, W) that predict the token after the language and after each written one."""
        inputs = torch.cat([self.languages(languages)[:, None], self.tokens(written)], dim=1)
        position = torch.arange(inputs.shape[1], device=inputs.device)
        future = torch.ones(len(position), len(position), dtype=torch.bool, device=inputs.device).triu(1)
        out: Tensor = self.layer(
            self.norm(inputs + self.positions(position)),
            states,
            tgt_mask=future,
            memory_key_padding_mask=mask == 0,
        )
        return out

    def _logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.tokens.weight, self.bias)


@named("denoising")
class Denoising(Writing):
    """Cross-entropy of a sentence's tokens, decoded from a noisy version of it.

    Noise: tokens are dropped with probability `drop`, masked with `blank`, and moved by at most `reach`
    places.
    """

    written: ClassVar[str] = "denoising"

    drop: float = Field(default=0.1, ge=0, lt=1)
    blank: float = Field(default=0.1, ge=0, lt=1)
    reach: int = Field(default=3, ge=0)

    def compute(self, forward: Forward) -> dict[str, tuple[Tensor, ...]]:
        ids, mask = forward.batch.ids, forward.batch.mask
        noisy_texts = noisy(ids, mask, drop=self.drop, blank=self.blank, reach=self.reach)
        return {self.written: self.write(forward, noisy_texts, (ids, mask), forward.language_places())}


def noisy(ids: Tensor, mask: Tensor, *, drop: float, blank: float, reach: int) -> tuple[Tensor, Tensor]:
    """Add noise to sentences: ids and mask (N, T), pads last (Lample et al. 2018, 2.3).

    Each token but the first, <seq>, is dropped with probability `drop` (one always stays), else becomes
    <mask> with probability `blank`; none moves by more than `reach` places. Draws from torch's global
    generator.
    """
    position = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
    key = position + torch.rand(ids.shape, device=ids.device) * (reach + 1)
    chance = torch.rand(ids.shape, device=ids.device)
    ordinary = (mask == 1) & (position > 0)
    spared = chance == chance.masked_fill(~ordinary, -1).amax(dim=1, keepdim=True)
    lost = (chance < drop) & ordinary & ~spared
    blanked = (torch.rand(ids.shape, device=ids.device) < blank) & ordinary
    out = ids.masked_fill(blanked, MASK_ID).masked_fill(lost, PAD_ID)
    is_kept = (mask == 1) & ~lost
    key = key.masked_fill(position == 0, -1.0).masked_fill(~is_kept, float("inf"))
    order = key.argsort(dim=1, stable=True)
    return out.gather(1, order), is_kept.long().gather(1, order)


@named("back_translation")
class BackTranslation(Writing):
    """Cross-entropy of a sentence's tokens, decoded from the model's translation into a random language.

    No gradient flows through the translation. share: the share of a batch's sentences that are translated, as
    translating is slow.
    """

    written: ClassVar[str] = "back_translation"

    share: float = Field(default=1.0, gt=0, le=1)

    def compute(self, forward: Forward) -> dict[str, tuple[Tensor, ...]]:
        ids, mask, languages = forward.batch.ids, forward.batch.mask, forward.language_places()
        sample = torch.randperm(len(ids), device=ids.device)[: max(1, round(self.share * len(ids)))]
        ids, mask, languages = ids[sample], mask[sample], languages[sample]
        away = torch.randint(1, forward.model.languages, languages.shape, device=languages.device)
        translation = translated(forward.model, (ids, mask), (languages + away) % forward.model.languages)
        return {self.written: self.write(forward, translation, (ids, mask), languages)}


@torch.no_grad()
def translated(model: TwoBranch, texts: Texts, languages: Tensor) -> Texts:
    """Translate sentences into `languages` (N,) with the model, without dropout."""
    decoder = model.learned["decoder"]
    assert isinstance(decoder, Decoder)
    encoder, was_training = model.text, model.text.training
    encoder.eval()
    decoder.eval()
    translation = decoder.write(encoder.states(*texts), texts[1], languages)
    encoder.train(was_training)
    decoder.train(was_training)
    return translation
