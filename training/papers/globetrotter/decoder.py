"""The decoder that the objectives of Lample & Conneau 2019 share: sentences from an encoder's states."""

from collections.abc import Callable, Iterator
from typing import ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.data.tokens import PAD_ID, SEQUENCE_ID, Texts
from training.encoders.two_branch import TwoBranch
from training.objectives.base import Forward, Objective, Step, Tables
from training.papers.globetrotter.transformer import Transformer

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
        if not recipe.text.has_decoder_parts or len(recipe.data.languages) < 2:
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
