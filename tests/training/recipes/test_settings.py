import pytest

from training.recipes.settings import ScheduleSettings

NAMES = ("hinge", "caption_hinge", "cloze")


@pytest.mark.parametrize(("kept", "after"), [(True, set()), (False, {"cloze"})])
def test_what_comes_first_is_alone_for_so_many_epochs(kept: bool, after: set[str]) -> None:
    schedule = ScheduleSettings(pretraining=("cloze",), pretraining_epochs=2, keep_after_pretraining=kept)
    others = {"hinge", "caption_hinge"}
    assert [schedule.inactive(NAMES, epoch) for epoch in range(4)] == [others, others, after, after]


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (
            ScheduleSettings(pretraining=("absent",), pretraining_epochs=1),
            "absent is not one of the objectives",
        ),
        (ScheduleSettings(pretraining=("hinge",)), "need each other"),
        (ScheduleSettings(pretraining_epochs=2), "need each other"),
        (
            ScheduleSettings(pretraining=NAMES, pretraining_epochs=1, keep_after_pretraining=False),
            "no objective is left",
        ),
        (ScheduleSettings(rewarm=True), r"rewarm needs schedule\.pretraining"),
    ],
)
def test_an_impossible_schedule_is_refused(schedule: ScheduleSettings, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        schedule.check(NAMES)


def test_the_rate_rises_again_after_the_pretraining_where_it_is_asked_to() -> None:
    once, again = (
        ScheduleSettings(pretraining=("cloze",), pretraining_epochs=2, rewarm=rise) for rise in (False, True)
    )
    assert [once.rate_span(epoch, 0, 5) for epoch in range(3)] == [(0, 5)] * 3
    assert [again.rate_span(epoch, 0, 5) for epoch in range(4)] == [(0, 2), (0, 2), (2, 5), (2, 5)]
    assert again.rate_span(3, 2, 5) == (2, 5), "a round of mining begins there anyway"
