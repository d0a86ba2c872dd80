from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from training.recipes.schedule import ScheduleSettings

NAMES = ("hinge", "caption_hinge", "cloze")
SAMPLED = ScheduleSettings(sampling={"hinge": 0.25, "caption_hinge": 0.75})


def test_without_a_schedule_every_objective_is_active() -> None:
    assert ScheduleSettings().inactive(NAMES, 0, 3, 4) == set()


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_one_sampled_objective_is_active_and_the_others_always(seed: int, epoch: int, number: int) -> None:
    inactive = SAMPLED.inactive(NAMES, seed, epoch, number)
    assert inactive in ({"hinge"}, {"caption_hinge"})
    assert inactive == SAMPLED.inactive(NAMES, seed, epoch, number), "a resumed run sees the same"


def test_objectives_are_sampled_by_their_probability() -> None:
    counts = Counter(*[[name for n in range(2000) for name in SAMPLED.inactive(NAMES, 1, 5, n)]])
    assert counts["caption_hinge"] / 2000 == pytest.approx(0.25, abs=0.04)


def test_what_comes_first_is_alone_for_so_many_epochs() -> None:
    schedule = ScheduleSettings(pretraining=("cloze",), pretraining_epochs=2)
    found = [schedule.inactive(NAMES, 0, epoch, 0) for epoch in range(4)]
    assert found == [{"hinge", "caption_hinge"}, {"hinge", "caption_hinge"}, set(), set()]


@pytest.mark.parametrize("given", [{"a": 0.5}, {"a": 1.5, "b": -0.5}, {"a": 0.0, "b": 1.0}])
def test_probabilities_are_probabilities(given: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="give each a probability above 0, 1 in all"):
        ScheduleSettings(sampling=given)


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (
            ScheduleSettings(sampling={"absent": 1.0}),
            "absent is none of the objectives hinge, caption_hinge, cloze",
        ),
        (ScheduleSettings(pretraining=("absent",), pretraining_epochs=1), "absent is none of the objectives"),
        (ScheduleSettings(pretraining=("hinge",)), "need each other"),
        (ScheduleSettings(pretraining_epochs=2), "need each other"),
    ],
)
def test_an_impossible_schedule_is_refused(schedule: ScheduleSettings, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        schedule.check(NAMES)


def test_what_came_first_may_end_with_that() -> None:
    schedule = ScheduleSettings(pretraining=("cloze",), pretraining_epochs=1, keep_after_pretraining=False)
    assert schedule.inactive(NAMES, 0, 0, 0) == {"hinge", "caption_hinge"}
    assert schedule.inactive(NAMES, 0, 1, 0) == {"cloze"}
    assert schedule.inactive(NAMES, 0, 0, 0, pretrained=True) == {"cloze"}, "a trained model has it behind it"
    with pytest.raises(ValueError, match="no objective is left"):
        schedule.check(["cloze"])


def test_the_rate_rises_again_after_the_pretraining_where_it_is_asked_to() -> None:
    once, again = (
        ScheduleSettings(pretraining=("cloze",), pretraining_epochs=2, rewarm=rise) for rise in (False, True)
    )
    assert [once.stage(epoch, 0, 5) for epoch in range(3)] == [(0, 5)] * 3
    assert [again.stage(epoch, 0, 5) for epoch in range(4)] == [(0, 2), (0, 2), (2, 5), (2, 5)]
    assert again.stage(3, 2, 5) == (2, 5), "a round of mining begins there anyway"
    with pytest.raises(ValueError, match=r"rewarm needs schedule\.pretraining"):
        ScheduleSettings(rewarm=True).check(NAMES)
