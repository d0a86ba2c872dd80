import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.training.encoders.sentences import spoken
from training.data.tokens import pad
from training.papers.globetrotter.adapted import Adapted, AdaptedSettings

CPU = torch.device("cpu")
VOCABULARY, WIDTH, LANGUAGES = 20, 6, 2
# Tokens 4 to 11 are language 0's, 12 to 19 language 1's.
CAPTIONS = [np.arange(4, 12, dtype=np.int32), np.arange(12, 20, dtype=np.int32)]


def built() -> Adapted:
    torch.manual_seed(0)
    table = {"encoder": "adapted", "width": WIDTH}
    encoder = AdaptedSettings.model_validate(table).build(VOCABULARY, LANGUAGES).eval()
    encoder.initialise(spoken(CAPTIONS, [0, 1]))
    return encoder


ENCODER = built()


@torch.no_grad()
def embed(*sentences: list[int], encoder: Adapted = ENCODER) -> Tensor:
    out: Tensor = encoder(*pad([np.array(row, np.int32) for row in sentences], CPU))
    return out


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
    found = embed([4, 9, 6], [13, 17])
    assert torch.allclose(found[0], by_hand([4, 9, 6], 0), atol=1e-6)
    assert torch.allclose(found[1], by_hand([13, 17], 1), atol=1e-6)


def test_a_token_both_share_is_another_word_in_each() -> None:
    """Token 4 among language 1's words is language 1's: it has an embedding of its own there."""
    assert torch.allclose(embed([12, 13, 14, 4])[0], by_hand([12, 13, 14, 4], 1), atol=1e-6)


@given(st.lists(st.integers(4, 19), min_size=1, max_size=8))
def test_neither_order_nor_pads_nor_neighbours_matter(sentence: list[int]) -> None:
    mixed = sorted(sentence)
    alone = embed(sentence)[0]
    assert torch.allclose(embed(mixed, [4] * 12)[0], alone, atol=1e-6)


def test_a_word_has_an_adapted_vector_in_each_language() -> None:
    table = ENCODER.word_table().detach()
    assert table.shape == (LANGUAGES, VOCABULARY, WIDTH)
    for token, language in ((4, 0), (13, 1), (4, 1)):
        row = ENCODER.tokens.weight[language * VOCABULARY + token] @ ENCODER.adaptations[language]
        assert torch.allclose(table[language, token], row.detach(), atol=1e-6)


def test_adaptations_begin_as_identities() -> None:
    assert torch.equal(built().adaptations.detach(), torch.eye(WIDTH).expand(LANGUAGES, WIDTH, WIDTH))
