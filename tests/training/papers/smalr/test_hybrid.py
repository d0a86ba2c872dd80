"""The hybrid embedding: who keeps a vector, who shares one; a checkpoint knows how many there are."""

import numpy as np
import pytest
import torch

from tests.training.step_batches import spoken
from training.papers.mule.word_vectors import principal
from training.papers.smalr.hybrid import Hybrid, HybridSettings, hybrid_tables
from training.papers.smalr.latent import Assignment

VOCABULARY, SPECIAL = 12, 4
COUNTS = np.zeros((VOCABULARY, 2), np.int64)
COUNTS[4:9, 0] = [5, 9, 1, 3, 2]  # the first language: words 4 to 8
COUNTS[7:12, 1] = [2, 8, 7, 1, 4]  # the second: 7 to 11


def settings(**changes: object) -> HybridSettings:
    base = {"encoder": "hybrid", "kept": 2, "kept_width": 3, "latent": 6, "universal": 4, "width": 4}
    return HybridSettings.model_validate({**base, "recurrent": "mean", "vectors_width": 5, **changes})


def reduced() -> list[np.ndarray]:
    draw = np.random.default_rng(0)
    return [draw.standard_normal((VOCABULARY, 3)).astype(np.float32) for _ in range(2)]


def assigned() -> Assignment:
    tokens = [np.full(VOCABULARY, 5), np.full(VOCABULARY, 5)]
    tokens[0][7], tokens[1][7] = 2, 2  # the same latent token in both languages
    return Assignment(tokens, np.random.default_rng(1).standard_normal((6, 4)).astype(np.float32))


def encoder(found: HybridSettings) -> Hybrid:
    torch.manual_seed(0)
    model = found.build(VOCABULARY, 2)
    model.set_words(*hybrid_tables(found, reduced(), COUNTS, assigned() if found.kept is not None else None))
    model.identifier.fit(spoken([np.asarray([4, 5, 6], np.int32), np.asarray([9, 10, 11], np.int32)], [0, 1]))
    return model.eval()


def test_kept_words_have_their_own_vectors_others_share_and_unused_latent_tokens_go() -> None:
    own, latent, rows = hybrid_tables(settings(), reduced(), COUNTS, assigned())
    assert own.shape == (SPECIAL + 2 + 2, 3)
    np.testing.assert_array_equal(own[rows[5, 0]], reduced()[0][5])
    np.testing.assert_array_equal(own[rows[8, 1]], reduced()[1][8])
    assert latent.shape == (2, 4), "of six latent tokens two are used"
    assert rows[7, 0] == rows[7, 1] == len(own), "a latent token is shared by languages"
    np.testing.assert_array_equal(latent[rows[7, 0] - len(own)], assigned().latent[2])
    assert rows[11, 0] == 1, "a word that a language never uses is <unk> there"
    assert rows[:SPECIAL].tolist() == [[i, i] for i in range(SPECIAL)]


def test_a_words_vector_comes_from_its_language() -> None:
    model = encoder(settings())
    ids, mask = torch.tensor([[5, 4], [9, 8]]), torch.ones(2, 2, dtype=torch.int64)
    found = model.states(ids, mask)
    by_hand = torch.from_numpy(reduced()[0][5]) @ model.to_universal[0].T + model.bias[0]
    torch.testing.assert_close(found[0, 0], by_hand)
    torch.testing.assert_close(found[1, 1], torch.from_numpy(reduced()[1][8]) @ model.to_universal[1].T)


@pytest.mark.parametrize("recurrent", ["mean", "gru", "lstm"])
def test_pads_change_nothing(recurrent: str) -> None:
    model = encoder(settings(recurrent=recurrent))
    short = torch.tensor([[5, 4, 7]])
    padded = torch.tensor([[5, 4, 7, 0, 0]])
    whole = torch.ones_like(short)
    mask = torch.tensor([[1, 1, 1, 0, 0]])
    torch.testing.assert_close(model(short, whole), model(padded, mask))
    inner = model.inner(model.states(padded, mask), torch.tensor([[1, 0, 1, 0, 0]]))
    torch.testing.assert_close(inner, model.states(short, whole)[:, [0, 2]].mean(dim=1))


@pytest.mark.parametrize("kept", [2, 0, None])
def test_a_checkpoint_brings_its_own_number_of_vectors(kept: int | None) -> None:
    model = encoder(settings(kept=kept))
    again = settings(kept=kept).build(VOCABULARY, 2).eval()
    again.load_state_dict(model.state_dict())
    ids, mask = torch.tensor([[5, 7, 4]]), torch.ones(1, 3, dtype=torch.int64)
    assert torch.equal(model(ids, mask), again(ids, mask))
    wrong = settings(kept=kept, kept_width=2).build(VOCABULARY, 2)
    with pytest.raises(RuntimeError, match="size mismatch"):
        wrong.load_state_dict(model.state_dict())


def test_principal_components_keep_what_differs_most() -> None:
    draw = np.random.default_rng(0)
    rows = (draw.standard_normal((50, 4)) * [0.01, 5.0, 0.01, 1.0]).astype(np.float32)
    rows[3] = 0
    found = principal(rows, 2)
    assert abs(np.corrcoef(found[4:, 0], rows[4:, 1])[0, 1]) > 0.999
    assert abs(np.corrcoef(found[4:, 1], rows[4:, 3])[0, 1]) > 0.95
    assert not found[3].any()
