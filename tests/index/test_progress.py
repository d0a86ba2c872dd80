"""Progress: a bar on a terminal, lines elsewhere."""

import io

import pytest

from index import progress
from index.progress import Progress, ProgressStep, duration, heard_by


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in a list so that a test can move it."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_lines_come_every_few_seconds_and_at_the_end(clock: list[float]) -> None:
    stream = io.StringIO()
    with Progress(100, unit="sentences", label="encode", stream=stream) as bar:
        for _ in range(10):
            clock[0] += 2
            bar.advance(10)
    assert stream.getvalue().splitlines() == [
        "encode 30/100 sentences (5/s, 14s left)",
        "encode 60/100 sentences (5/s, 8s left)",
        "encode 90/100 sentences (5/s, 2s left)",
        "encode 100/100 sentences (5/s, in 20s)",
    ]


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0s"), (59.6, "1m00s"), (65, "1m05s"), (7384, "2h03m")])
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_listener_receives_progress_instead(clock: list[float]) -> None:
    stream, heard = io.StringIO(), list[ProgressStep]()
    with heard_by(heard.append), Progress(9, unit="words", label="align", stream=stream) as bar:
        for _ in range(9):
            clock[0] += 0.2
            bar.advance()
    assert heard == [ProgressStep("align", done, 9, "words") for done in (3, 6, 9, 9)]
    assert stream.getvalue() == ""


def test_a_listener_may_end_the_work(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(step: ProgressStep) -> None:
        raise InterruptedError

    def work() -> None:
        with Progress(9, unit="words", label="align") as bar:
            clock[0] += 1
            bar.advance(9)

    with heard_by(refuse), pytest.raises(InterruptedError):
        work()
    assert capsys.readouterr().err == ""
    work()
    assert "align 9/9 words" in capsys.readouterr().err
