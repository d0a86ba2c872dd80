from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from training.objectives.schedule import TurnSettings

NAMES = ("hinge", "caption_hinge", "cloze")
HALVES = TurnSettings(one_of={"hinge": 0.25, "caption_hinge": 0.75})


def test_without_turns_nothing_rests() -> None:
    assert TurnSettings().resting(NAMES, 0, 3, 4) == set()


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_one_of_them_rests_and_what_is_not_among_them_never(seed: int, epoch: int, number: int) -> None:
    resting = HALVES.resting(NAMES, seed, epoch, number)
    assert resting in ({"hinge"}, {"caption_hinge"})
    assert resting == HALVES.resting(NAMES, seed, epoch, number), "a resumed run sees the same"


def test_turns_come_by_their_probability() -> None:
    counts = Counter(*[[name for n in range(2000) for name in HALVES.resting(NAMES, 1, 5, n)]])
    assert counts["caption_hinge"] / 2000 == pytest.approx(0.25, abs=0.04)


def test_what_comes_first_is_alone_for_so_many_epochs() -> None:
    turns = TurnSettings(first=("cloze",), epochs=2)
    found = [turns.resting(NAMES, 0, epoch, 0) for epoch in range(4)]
    assert found == [{"hinge", "caption_hinge"}, {"hinge", "caption_hinge"}, set(), set()]


@pytest.mark.parametrize("given", [{"a": 0.5}, {"a": 1.5, "b": -0.5}, {"a": 0.0, "b": 1.0}])
def test_probabilities_are_probabilities(given: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="give each a probability above 0, 1 in all"):
        TurnSettings(one_of=given)


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        (
            TurnSettings(one_of={"absent": 1.0}),
            "absent is none of the objectives hinge, caption_hinge, cloze",
        ),
        (TurnSettings(first=("absent",), epochs=1), "absent is none of the objectives"),
        (TurnSettings(first=("hinge",)), "need each other"),
        (TurnSettings(epochs=2), "need each other"),
    ],
)
def test_turns_that_cannot_be_are_refused(turns: TurnSettings, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        turns.check(NAMES)


def test_what_came_first_may_end_with_that() -> None:
    turns = TurnSettings(first=("cloze",), epochs=1, go_on=False)
    assert turns.resting(NAMES, 0, 0, 0) == {"hinge", "caption_hinge"}
    assert turns.resting(NAMES, 0, 1, 0) == {"cloze"}
    assert turns.resting(NAMES, 0, 0, 0, begun=True) == {"cloze"}, "a trained model has it behind it"
    with pytest.raises(ValueError, match="no objective is left"):
        turns.check(["cloze"])


def test_the_rate_rises_again_after_the_pretraining_where_it_is_asked_to() -> None:
    once, again = (TurnSettings(first=("cloze",), epochs=2, rise_again=rise) for rise in (False, True))
    assert [once.stage(epoch, 0, 5) for epoch in range(3)] == [(0, 5)] * 3
    assert [again.stage(epoch, 0, 5) for epoch in range(4)] == [(0, 2), (0, 2), (2, 5), (2, 5)]
    assert again.stage(3, 2, 5) == (2, 5), "a round of mining begins there anyway"
    with pytest.raises(ValueError, match=r"rise_again needs turns\.first"):
        TurnSettings(rise_again=True).check(NAMES)
