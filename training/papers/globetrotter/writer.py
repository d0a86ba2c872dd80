"""A small GPT-2 that writes a sentence from a sentence vector (globetrotter, A.5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel

from training.data.settings import TokenizerSettings
from training.data.tokens import PAD_ID, SEQUENCE_ID, pad, tokenize, train_tokenizer

Vectors = NDArray[np.float32]
MAX_TOKENS = 40  # of a sentence that is written


@dataclass(frozen=True)
class WriterSettings:
    """Settings of a writer and its training.

    noise: norm of the Gaussian noise added to each training vector of norm 1, so that the writer also reads
    nearby vectors, such as those of the same sentence in another language.
    """

    epochs: int = 4
    width: int = 128
    layers: int = 2
    heads: int = 4
    vocabulary: int = 4000
    batch_size: int = 64
    learning_rate: float = 2e-3
    noise: float = 0.5
    seed: int = 0


class Writer(nn.Module):
    """A randomly initialised GPT-2 whose first input is a linear map of the sentence vector.

    The token <seq> begins and ends a sentence.
    """

    def __init__(self, settings: WriterSettings, tokenizer: Tokenizer, dimension: int) -> None:
        super().__init__()
        self.tokenizer = tokenizer
        self.settings = settings
        config = GPT2Config(
            vocab_size=tokenizer.get_vocab_size(),
            n_positions=MAX_TOKENS + 3,
            n_embd=settings.width,
            n_layer=settings.layers,
            n_head=settings.heads,
            bos_token_id=SEQUENCE_ID,
            eos_token_id=SEQUENCE_ID,
        )
        self.gpt2 = GPT2LMHeadModel(config)
        self.prefix = nn.Linear(dimension, settings.width)

    def forward(self, vectors: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        """Mean cross-entropy of sentences (N, T), <seq> at both ends, given their vectors (N, D)."""
        embedded = torch.cat([self.prefix(vectors)[:, None], self.gpt2.transformer.wte(ids[:, :-1])], dim=1)
        attended = torch.cat([mask.new_ones(len(mask), 1), mask[:, :-1]], dim=1)
        logits = self.gpt2(inputs_embeds=embedded, attention_mask=attended).logits[:, 1:]
        truth = ids[:, 1:].masked_fill(mask[:, 1:] == 0, -100)
        return nn.functional.cross_entropy(logits.flatten(0, 1), truth.flatten(), ignore_index=-100)

    @torch.inference_mode()
    def write(self, vectors: Vectors, progress: Callable[[int], None] = lambda done: None) -> list[str]:
        """Write a sentence for each of (n, D) vectors by greedy decoding."""
        self.eval()
        sentences: list[str] = []
        for start in range(0, len(vectors), self.settings.batch_size):
            rows = self._write(torch.from_numpy(vectors[start : start + self.settings.batch_size]))
            sentences += [self.tokenizer.decode(row) for row in rows]
            progress(len(rows))
        return sentences

    def _write(self, vectors: Tensor) -> list[list[int]]:
        begin = torch.full((len(vectors), 1), SEQUENCE_ID)
        inputs = torch.cat([self.prefix(vectors)[:, None], self.gpt2.transformer.wte(begin)], dim=1)
        past, columns, ended = None, [], torch.zeros(len(vectors), dtype=torch.bool)
        for _ in range(MAX_TOKENS):
            out = self.gpt2(inputs_embeds=inputs, past_key_values=past, use_cache=True)
            past, token = out.past_key_values, out.logits[:, -1].argmax(dim=1)
            ended |= token == SEQUENCE_ID
            columns.append(token.masked_fill(ended, PAD_ID))
            if ended.all():
                break
            inputs = self.gpt2.transformer.wte(token)[:, None]
        return [[int(t) for t in row if t != PAD_ID] for row in torch.stack(columns, dim=1)]


def train_writer(
    sentences: Sequence[str],
    vectors: Vectors,
    settings: WriterSettings,
    progress: Callable[[int], None] = lambda done: None,
) -> Writer:
    """Train a writer on sentences and their vectors, (n, D) unit rows, for `settings.epochs` passes."""
    tokenizer = train_tokenizer(
        sentences,
        TokenizerSettings(vocabulary=settings.vocabulary, lowercase=False),
        sequence_token=True,
        max_tokens=MAX_TOKENS,
    )
    tokenizer.decoder = decoders.Metaspace()
    rows = [np.append(row, np.int32(SEQUENCE_ID)) for row in tokenize(tokenizer, sentences)]
    torch.manual_seed(settings.seed)
    writer, draw = Writer(settings, tokenizer, vectors.shape[1]), np.random.default_rng(settings.seed)
    steps = settings.epochs * -(-len(rows) // settings.batch_size)
    optimiser = torch.optim.AdamW(writer.parameters(), lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
    for _ in range(settings.epochs):
        order = draw.permutation(len(rows))
        for batch in np.array_split(order, -(-len(rows) // settings.batch_size)):
            ids, mask = pad([rows[i] for i in batch], torch.device("cpu"))
            loss = writer(_noisy(vectors[batch], settings.noise), ids, mask)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(writer.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            progress(1)
    return writer.eval()


def _noisy(vectors: Vectors, noise: float) -> Tensor:
    """Vectors with `noise` added, unit rows again."""
    rows = torch.from_numpy(vectors)
    return nn.functional.normalize(rows + noise * torch.randn_like(rows) / rows.shape[1] ** 0.5, dim=1)
