import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.loop.training_loop import GUARD_MINIMUM, GUARD_WINDOW, LossGuard


def seen(guard: LossGuard, losses: list[float]) -> list[bool]:
    return [guard.exploded(loss) for loss in losses]


def test_so_many_times_the_median_for_so_many_steps() -> None:
    guard = LossGuard(10, 3)
    assert not any(seen(guard, [1.0] * GUARD_MINIMUM))
    assert seen(guard, [10.0, 10.1, 10.1, 10.1]) == [False, False, False, True]


def test_a_single_ordinary_loss_ends_a_streak() -> None:
    guard = LossGuard(10, 3)
    assert not any(seen(guard, [1.0] * GUARD_MINIMUM + [99, 99, 2, 99, 99, 1]))
    assert guard.high == 0


def test_an_explosion_does_not_become_ordinary() -> None:
    guard = LossGuard(10, 10**6)
    seen(guard, [1.0] * GUARD_MINIMUM + [50.0] * 5 * GUARD_WINDOW)
    assert guard.high == 5 * GUARD_WINDOW


def test_a_slow_rise_does() -> None:
    assert not any(seen(LossGuard(10, 1), [1.01**step for step in range(2000)]))


def test_no_loss_is_judged_by_too_few_others() -> None:
    assert not any(seen(LossGuard(10, 1), [1.0] * (GUARD_MINIMUM - 1) + [1e9]))


@given(st.lists(st.floats(0.1, 1e4), max_size=200), st.integers(0, 200), st.integers(1, 4))
def test_its_state_is_all_it_knows(losses: list[float], at: int, patience: int) -> None:
    whole, broken = LossGuard(2, patience), LossGuard(2, patience)
    expected = seen(whole, losses)
    first = seen(broken, losses[:at])
    again = LossGuard(2, patience, broken.losses, broken.high)
    assert first + seen(again, losses[at:]) == expected
    assert (again.losses, again.high) == (whole.losses, whole.high)
    assert len(again.losses) <= GUARD_WINDOW


@pytest.mark.parametrize("factor", [1.5, 100])
def test_the_factor_counts(factor: float) -> None:
    guard = LossGuard(factor, 1)
    assert seen(guard, [1.0] * GUARD_MINIMUM + [factor * 1.01]) == [False] * GUARD_MINIMUM + [True]
