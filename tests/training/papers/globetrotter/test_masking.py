import torch
from hypothesis import given
from hypothesis import strategies as st

from training.data.tokens import MASK_ID, SPECIAL_TOKENS
from training.papers.globetrotter.cloze import mask_tokens

VOCABULARY = 1000


def tokens(n: int = 400, length: int = 100, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(len(SPECIAL_TOKENS), VOCABULARY, (n, length), generator=generator)


def test_the_shares_are_berts() -> None:
    """40,000 tokens: 15 % are chosen, of those 80 % masked, 10 % random, 10 % as they were."""
    torch.manual_seed(0)
    ids = tokens()
    masked, chosen = mask_tokens(ids, 0.15, VOCABULARY)
    count = int(chosen.sum())
    assert 0.145 < count / ids.numel() < 0.155
    assert 0.78 < (masked[chosen] == MASK_ID).float().mean() < 0.82
    same = masked[chosen] == ids[chosen]
    assert 0.085 < same.float().mean() < 0.115
    random = masked[chosen][~same & (masked[chosen] != MASK_ID)]
    assert 0.085 < len(random) / count < 0.115
    assert random.min() >= len(SPECIAL_TOKENS)
    assert random.max() < VOCABULARY
    assert len(set(random.tolist())) > 300, "random tokens are drawn from the whole vocabulary"


def test_what_is_not_chosen_stays() -> None:
    torch.manual_seed(0)
    ids = tokens()
    masked, chosen = mask_tokens(ids, 0.3, VOCABULARY)
    assert torch.equal(masked[~chosen], ids[~chosen])


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_special_tokens_are_never_chosen(row: list[int], share: float) -> None:
    ids = torch.tensor([row])
    before = ids.clone()
    masked, chosen = mask_tokens(ids, share, 21)
    assert not chosen[ids < len(SPECIAL_TOKENS)].any()
    assert torch.equal(masked[ids < len(SPECIAL_TOKENS)], ids[ids < len(SPECIAL_TOKENS)])
    assert torch.equal(ids, before), "the true ids are the labels: they must stay"


def test_it_draws_from_the_generator_that_checkpoints_keep() -> None:
    ids = tokens(4)
    state = torch.get_rng_state()
    first = mask_tokens(ids, 0.5, VOCABULARY)
    second = mask_tokens(ids, 0.5, VOCABULARY)
    torch.set_rng_state(state)
    again = mask_tokens(ids, 0.5, VOCABULARY)
    assert torch.equal(first[0], again[0])
    assert not torch.equal(first[1], second[1])
