import pytest

from tests.training.step_batches import pairs_by_hand, rows, step_of
from training.objectives.pseudopairs import Pseudopairs

CAPTIONS = rows(6, 4, 9)


@pytest.mark.parametrize("temperature", [0.05, 0.1, 1.0])
def test_the_softmax_over_all_sentences(temperature: float) -> None:
    one, other = rows(5, 4, 0), rows(5, 4, 1)
    found = Pseudopairs(temperature=temperature)(step_of(CAPTIONS, (), mined=(one, other))).item()
    assert found == pytest.approx(pairs_by_hand(one, other, temperature), rel=1e-9)


def test_nothing_mined_costs_nothing() -> None:
    assert Pseudopairs()(step_of(CAPTIONS, ())).item() == 0
