"""Pretraining of SMALR's latent vocabulary (Burns et al. 2020, 3.1): the latent token of each word."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from index.arrays import Numbers, Vectors, unit
from training.data.settings import SettingsTable
from training.data.tokens import TokenIds
from training.papers.mule.losses import top_violations


class PretrainingSettings(SettingsTable):
    """Pretraining of the latent vocabulary.

    explore, among: with probability `explore` a word takes a random one of its `among` best latent tokens
    instead of the best. margin, top: of the triplet loss, over the `top` most violated constraints. steps,
    batch_size (pairs), learning_rate: not stated in the paper.
    """

    explore: float = Field(default=0.2, ge=0, le=1)
    among: int = Field(default=20, ge=1)
    margin: float = Field(default=0.05, gt=0, le=2)
    top: int = Field(default=10, ge=1)
    steps: int = Field(default=400, ge=1)
    batch_size: int = Field(default=128, ge=2)
    learning_rate: float = Field(default=1e-3, gt=0)


@dataclass(frozen=True)
class Assignment:
    """tokens: (vocabulary,) latent tokens for each language; latent: (V, universal), their vectors."""

    tokens: list[Numbers]
    latent: Vectors


@dataclass(frozen=True)
class LatentSentences:
    """Training sentences: token ids, and each sentence's language (N,) and picture (N,)."""

    tokens: Sequence[TokenIds]
    languages: Numbers
    pictures: Numbers


class LatentVocabulary(nn.Module):
    """Assigns words to latent tokens by one linear layer for each language.

    vectors: (vocabulary, F) fixed word vectors for each language.
    """

    vectors: Tensor

    def __init__(self, vectors: Sequence[Vectors], latent: int, universal: int) -> None:
        super().__init__()
        self.register_buffer("vectors", torch.from_numpy(np.stack(vectors)))
        self.scores = nn.Parameter(torch.randn(len(vectors), self.vectors.shape[2], latent) * 0.05)
        self.latent = nn.Parameter(torch.randn(latent, universal) * universal**-0.5)

    def score(self, words: Tensor, language: int) -> Tensor:
        """Score latent tokens for the words (W,) of a language: (W, latent)."""
        return self.vectors[language, words] @ self.scores[language]

    def embed(self, words: Tensor, language: int, settings: PretrainingSettings) -> Tensor:
        """Embed the words (W,) of a language, each by the vector of one latent token: (W, universal).

        The choice is hard; its probability gets the gradient of the vector (straight-through estimator).
        """
        scores = self.score(words, language)
        chosen = choose(scores, settings.explore, settings.among)
        chance = scores.softmax(dim=1).gather(1, chosen[:, None])
        return self.latent[chosen] * (1 + chance - chance.detach())


def choose(scores: Tensor, explore: float, among: int) -> Tensor:
    """Choose a token by each row of scores (W, V): the best or, with p `explore`, one of the `among` best."""
    best = scores.detach().topk(min(among, scores.shape[1]), dim=1).indices
    random_place = torch.randint(best.shape[1], (len(best),), device=scores.device)
    exploring = torch.rand(len(best), device=scores.device) < explore
    chosen_place = torch.where(exploring, random_place, torch.zeros_like(random_place))
    return best.gather(1, chosen_place[:, None])[:, 0]


def pretrain(
    vectors: Sequence[Vectors],
    sentences: LatentSentences,
    latent: int,
    universal: int,
    settings: PretrainingSettings,
    seed: int,
) -> Assignment:
    """Learn the assignment: sentences about one picture are drawn together, others apart.

    A sentence is the mean of its words' latent tokens; the loss is eq. 1 over all triplets of a batch.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = LatentVocabulary([unit(rows) for rows in vectors], latent, universal)
        optimiser = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
        draw, pairs = np.random.default_rng(seed), _pairs(sentences.pictures)
        for _ in range(settings.steps):
            batch = _draw_pairs(pairs, min(settings.batch_size, len(pairs)), draw)
            anchors, positives = (_embed(model, sentences, rows, settings) for rows in batch.T)
            loss = _triplets(anchors, positives, settings)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return _assignment(model)


@torch.no_grad()
def _assignment(model: LatentVocabulary) -> Assignment:
    words = torch.arange(model.vectors.shape[1])
    best = [model.score(words, language).argmax(dim=1).numpy() for language in range(len(model.vectors))]
    return Assignment(best, model.latent.detach().numpy().copy())


def _triplets(anchors: Tensor, positives: Tensor, settings: PretrainingSettings) -> Tensor:
    cosines = F.normalize(anchors, dim=1) @ F.normalize(positives, dim=1).T
    positive_cosines = cosines.diagonal()
    rivals = ~torch.eye(len(positive_cosines), dtype=torch.bool)
    sides = (cosines, cosines.T)
    return torch.stack(
        [top_violations(s, positive_cosines, rivals, settings.margin, settings.top) for s in sides]
    ).sum()


def _embed(
    model: LatentVocabulary, sentences: LatentSentences, rows: Numbers, settings: PretrainingSettings
) -> Tensor:
    """Embed sentences, rows (n,), as the mean over their words: (n, universal)."""
    lengths = torch.tensor([len(sentences.tokens[row]) for row in rows])
    words = torch.from_numpy(np.concatenate([sentences.tokens[row] for row in rows]).astype(np.int64))
    owner = torch.repeat_interleave(torch.arange(len(rows)), lengths)
    language = torch.from_numpy(sentences.languages[rows])[owner]
    total = torch.zeros(len(rows), model.latent.shape[1])
    for code in sorted(set(language.tolist())):
        in_language = language == code
        kinds, inverse = torch.unique(words[in_language], return_inverse=True)
        total = total.index_add(0, owner[in_language], model.embed(kinds, code, settings)[inverse])
    return total / lengths[:, None]


def _pairs(pictures: Numbers) -> list[Numbers]:
    """The sentences of each picture that has two or more."""
    order = np.argsort(pictures, kind="stable")
    edges = np.flatnonzero(np.diff(pictures[order])) + 1
    return [group for group in np.split(order, edges) if len(group) > 1]


def _draw_pairs(groups: Sequence[Numbers], count: int, draw: np.random.Generator) -> Numbers:
    """Draw two sentences of each of `count` pictures: (count, 2)."""
    chosen = draw.choice(len(groups), count, replace=False)
    return np.stack([draw.choice(groups[group], 2, replace=False) for group in chosen])
