import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.training.data.test_pairs import batch
from tests.training.step_batches import rows, step_of
from training.papers.united.halves import Halves, HalvesSupplier, halved

CAPTIONS = rows(6, 4, 9)


def test_two_halves_by_hand() -> None:
    """One sentence: no other to choose. Two, at right angles: e^(1/τ) against twice e^(1/2τ)."""
    one = torch.eye(2, dtype=torch.float64)
    assert Halves()(step_of(CAPTIONS, (), halves=(one[:1], one[:1]))).item() == pytest.approx(0)
    found = Halves(temperature=0.5)(step_of(CAPTIONS, (), halves=(one, one))).item()
    right, wrong = torch.exp(torch.tensor([2.0, 1.0], dtype=torch.float64))
    assert found == pytest.approx(-torch.log(right / (right + 2 * wrong)).item())


@given(st.integers(2, 40), st.integers(0, 1000))
def test_each_token_is_in_one_half_in_its_order(length: int, seed: int) -> None:
    one, other = halved(np.arange(length, dtype=np.int32), np.random.default_rng(seed))
    assert sorted([*one, *other]) == list(range(length))
    assert list(one) == sorted(one)
    assert list(other) == sorted(other)
    assert 0 <= len(other) - len(one) <= 1


def sentences(seed: int = 0) -> HalvesSupplier:
    """A hundred English sentences of tokens below 1000, ten German ones of tokens from 1000 on."""
    english = [np.arange(i, i + 6, dtype=np.int32) for i in range(100)]
    german = [np.arange(1000 + i, 1006 + i, dtype=np.int32) for i in range(10)]
    return HalvesSupplier({"en": english, "de": german}, seed)


def test_a_batch_is_in_one_language_those_with_few_sentences_a_little_more_often() -> None:
    made, german = sentences(), 0
    for number in range(400):
        (one, mask), (other, _) = batch(made, 8, 0, number)
        ids = torch.cat([one[mask.bool()], other.flatten()])
        assert (ids >= 1000).all() or (ids < 1000).all()
        german += int(ids[0] >= 1000)
    assert german / 400 == pytest.approx(10**0.75 / (10**0.75 + 100**0.75), abs=0.06)


def test_rows_of_both_halves_are_of_one_sentence() -> None:
    (one, _), (other, _) = batch(sentences(), 32, 1, 2)
    spans = torch.cat([one, other], dim=1)
    assert (spans.amax(dim=1) - spans.amin(dim=1) == 5).all()


def test_a_sentence_of_one_token_has_no_halves() -> None:
    made = HalvesSupplier({"en": [np.array([7], np.int32), np.array([1, 2], np.int32)], "xx": []}, 0)
    (one, _), (other, _) = batch(made, 5, 0, 0)
    assert set(torch.cat([one, other]).flatten().tolist()) == {1, 2}
