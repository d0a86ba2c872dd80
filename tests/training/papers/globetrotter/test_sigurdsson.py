"""The encoder with adaptation layers, and the penalty on these."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.training.step_batches import embed, rows, spoken, step_of
from training.objectives.base import Step
from training.papers.globetrotter.sigurdsson import Adapted, AdaptedSettings, Orthogonality

VOCABULARY, WIDTH, LANGUAGES = 20, 6, 2
# Tokens 4 to 11 are language 0's, 12 to 19 language 1's.
CAPTIONS = [np.arange(4, 12, dtype=np.int32), np.arange(12, 20, dtype=np.int32)]


torch.manual_seed(0)
ENCODER: Adapted = (
    AdaptedSettings.model_validate({"encoder": "adapted", "width": WIDTH}).build(VOCABULARY, LANGUAGES).eval()
)
ENCODER.initialise(spoken(CAPTIONS, [0, 1]))


@torch.no_grad()
def by_hand(sentence: list[int], language: int) -> Tensor:
    """Maximum over words of shared(A_l E_l[w])."""
    words = []
    for token in sentence:
        row = ENCODER.tokens.weight[language * VOCABULARY + token]
        words.append(ENCODER.shared(row @ ENCODER.adaptations[language]))
    return torch.stack(words).amax(dim=0)


def test_a_languages_words_go_through_its_own_layer_then_the_shared_one() -> None:
    with torch.no_grad():
        ENCODER.adaptations[1] += 0.5 * torch.randn(WIDTH, WIDTH, generator=torch.Generator().manual_seed(1))
    found = embed(ENCODER, [[4, 9, 6], [13, 17]])
    assert torch.allclose(found[0], by_hand([4, 9, 6], 0), atol=1e-6)
    assert torch.allclose(found[1], by_hand([13, 17], 1), atol=1e-6)


@given(st.lists(st.integers(4, 19), min_size=1, max_size=8))
def test_neither_order_nor_pads_nor_neighbours_matter(sentence: list[int]) -> None:
    mixed = sorted(sentence)
    assert torch.allclose(embed(ENCODER, [mixed, [4] * 12])[0], embed(ENCODER, [sentence])[0], atol=1e-6)


def given(adaptations: Tensor) -> Step:
    return step_of(rows(2, 3, 0), (), language_maps=adaptations)


def test_the_mean_squared_distance_of_w_wt_from_the_identity() -> None:
    """2I in two dimensions: ||4I - I||² = 18; W = [[1, 1], [0, 1]]: W Wᵀ - I = [[1, 1], [1, 0]], so 3."""
    shear = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
    assert Orthogonality()(given(torch.stack([2 * torch.eye(2), shear]))).item() == pytest.approx(
        (18 + 3) / 2
    )
