"""The latent vocabulary's pretraining: exploration, and that words of one meaning come to share a token."""

import numpy as np
import torch

from training.papers.smalr.latent import (
    LatentSentences,
    LatentVocabulary,
    PretrainingSettings,
    choose,
    pretrain,
)


def test_exploration_takes_one_of_the_best_with_the_given_probability() -> None:
    torch.manual_seed(0)
    scores = torch.arange(50.0).repeat(4000, 1)
    chosen = choose(scores, explore=0.2, among=20)
    assert set(chosen.tolist()) == set(range(30, 50)), "of the 20 best, each now and then, no other ever"
    assert abs((chosen != 49).float().mean().item() - 0.2 * 19 / 20) < 0.02
    assert (choose(scores, explore=0.0, among=20) == 49).all()
    assert (choose(scores[:, :3], explore=1.0, among=20) < 3).all(), "fewer tokens than M"


def test_the_choice_is_hard_and_still_learned() -> None:
    torch.manual_seed(0)
    vectors = [np.random.default_rng(0).standard_normal((10, 6)).astype(np.float32)]
    model = LatentVocabulary(vectors, latent=5, universal=4)
    settings = PretrainingSettings(explore=0.0)
    words = torch.arange(10)
    found = model.embed(words, 0, settings)
    torch.testing.assert_close(found, model.latent[model.score(words, 0).argmax(dim=1)])
    found.square().sum().backward()
    assert model.scores.grad is not None
    assert model.scores.grad.abs().sum() > 0, "through the choice's probability"


def test_sentences_of_one_picture_come_to_share_tokens_across_languages() -> None:
    """Ten meanings, each a word in two languages whose vectors have nothing in common."""
    draw = np.random.default_rng(0)
    vectors = [draw.standard_normal((24, 16)).astype(np.float32) for _ in range(2)]
    meanings = [draw.choice(10, 3, replace=False) for _ in range(300)]
    tokens = [(row + 4 + 10 * language).astype(np.int32) for row in meanings for language in (0, 1)]
    sentences = LatentSentences(tokens, np.tile([0, 1], 300), np.repeat(np.arange(300), 2))
    settings = PretrainingSettings(steps=60, batch_size=48, learning_rate=1e-2, margin=0.2)

    def similarity(found: object) -> float:
        """Of a word's latent vector to its counterpart's, less that to all others."""
        one, other = (
            found.latent[found.tokens[language][4 + 10 * language : 14 + 10 * language]]  # type: ignore[attr-defined]
            for language in (0, 1)
        )
        one, other = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (one, other))
        cosines = one @ other.T
        return float(np.diag(cosines).mean() - cosines.mean())

    learned = pretrain(vectors, sentences, 40, 16, settings, seed=0)
    shuffled = LatentSentences(tokens, sentences.languages, draw.permutation(sentences.pictures))
    assert similarity(learned) > 0.25
    assert similarity(pretrain(vectors, shuffled, 40, 16, settings, seed=0)) < 0.1
