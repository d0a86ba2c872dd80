import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from evaluation.reports.document import Grid, Picture, as_markdown
from evaluation.reports.experiments import Experiment, Matrix, Outcome, Result, State, Step
from evaluation.reports.summary import reproduce, spread, summarise, write_summary
from index.errors import PassepartoutError, TrainingError

SENTENCES = Experiment("sentences", "Sentence translation (5.2)", "200 captions a language.", "csls_r1")
WORDS = Experiment("words", "Word translation (5.3)", "Mutual top 5.", "csls_r10")


def nothing(folder: Path, needed: object) -> Outcome:
    raise AssertionError("not to be run")


STEPS = [
    *(Step(SENTENCES, "best", 2, nothing, seed) for seed in range(3)),
    Step(SENTENCES, "plain", 2, nothing),
    Step(WORDS, "best", 30, nothing),
]


def matrix(value: float) -> Matrix:
    return Matrix(languages=("en", "pt"), values=((None, value), (value + 8, None)))


def result(step: Step, score: float, seconds: float = 60) -> Result:
    measures = {"csls_r1": score, "odd one": 2 * score}
    return Result(
        step=step.name, key="", seconds=seconds, measures=measures, matrices={"positives": matrix(score)}
    )


STATE = State(
    results={
        step.name: result(step, score) for step, score in zip(STEPS[:3], (38.0, 37.0, 39.0), strict=True)
    },
    failed={STEPS[3].name: "the loss is not finite"},
    left={STEPS[4].name: "about 30m00s, over the budget"},
)


def test_mean_and_spread() -> None:
    assert spread([38.0, 37.0, 39.0]) == f"38.0 ± {np.std([38, 37, 39], ddof=1):.1f}" == "38.0 ± 1.0"
    assert spread([38.04]) == "38.0"
    assert spread([]) == "–"


def test_a_table_an_experiment_with_a_row_a_system() -> None:
    sentences, words = [block for block in summarise("t", "c", STEPS, STATE) if isinstance(block, Grid)]
    assert sentences.head == ["system", "CSLS R@1", "odd one", "seeds", "minutes"]
    assert sentences.rows == [
        ["best", "38.0 ± 1.0", "76.0 ± 2.0", "3", "1.0 ± 0.0"],
        ["plain", "–", "–", "0", "–"],
    ]
    assert words.rows == [["best", "0", "–"]]


def test_the_share_of_a_ceiling_is_a_column() -> None:
    ceiled = replace(SENTENCES, ceiling="plain")
    steps = [replace(step, experiment=ceiled) for step in STEPS[:4]]
    results = {step.name: result(step, score) for step, score in zip(steps, (38, 37, 39, 40), strict=True)}
    (grid,) = [block for block in summarise("t", "c", steps, State(results)) if isinstance(block, Grid)]
    assert grid.head[3] == "CSLS R@1, % of plain"
    assert [row[3] for row in grid.rows] == ["95.0 ± 2.5", "100.0"]
    del results[steps[3].name]
    (grid,) = [block for block in summarise("t", "c", steps, State(results)) if isinstance(block, Grid)]
    assert grid.head[3] == "seeds", "no share of what is not there yet"


def test_unfinished_steps_are_listed() -> None:
    lines = as_markdown(summarise("Title", "the command", STEPS, STATE)).splitlines()
    assert "# Title" in lines
    assert "the command" in lines
    assert "3 of 5 steps done in 3m00s, about 32m00s left." in lines
    assert "- `sentences.plain.0` failed: the loss is not finite" in lines
    assert "- `words.best.0` left: about 30m00s, over the budget" in lines


def test_pictures_show_the_means_over_seeds() -> None:
    pictures = {
        block.name: block for block in summarise("t", "c", STEPS, STATE) if isinstance(block, Picture)
    }
    assert list(pictures) == ["sentences.svg", "sentences-best-1.svg", "sentences-best-1-asymmetry.svg"]
    text = re.sub(r"<[^>]+>", " ", pictures["sentences-best-1.svg"].svg).split()
    assert {"38.0", "46.0", "en", "pt", "Germanic", "Romance"} <= set(text)
    assert pictures["sentences-best-1.svg"].title.startswith("best: positives found")


def test_the_page_holds_its_pictures_and_refers_to_nothing(tmp_path: Path) -> None:
    write_summary("Title", "c <&>", STEPS, STATE, tmp_path)
    page = (tmp_path / "report.html").read_text("utf-8")
    body = ElementTree.fromstring(page[page.index("<body>") : page.index("</html>")])
    assert len(body.findall(".//{http://www.w3.org/2000/svg}svg")) == 3
    assert [row[0].text for row in body.iter("tr")] == ["system", "best", "plain", "system", "best"]
    references = re.findall(r'(?:src|href)="([^"]*)"|url\(([^)]*)\)', page)
    assert all((a or b).startswith(("#", "data:")) for a, b in references)
    for name in re.findall(r"\]\(([^)]+)\)", (tmp_path / "report.md").read_text("utf-8")):
        assert (tmp_path / name).is_file()


def test_a_report_is_there_after_every_step_and_failures_are_the_end(tmp_path: Path) -> None:
    seen: list[str] = []

    def good(folder: Path, needed: object) -> Outcome:
        return Outcome(measures={"csls_r1": 1})

    def late(folder: Path, needed: object) -> Outcome:
        seen.append((tmp_path / "report.md").read_text("utf-8"))
        raise TrainingError("too late")

    steps = [Step(SENTENCES, "a", 1, good), Step(SENTENCES, "b", 1, late)]
    with pytest.raises(PassepartoutError, match="1 steps failed"):
        reproduce("Title", "c", steps, tmp_path, 10)
    assert "1 of 2 steps done" in seen[0]
    assert "`sentences.b.0` failed: too late" in (tmp_path / "report.md").read_text("utf-8")


def test_the_final_message_sums_up(tmp_path: Path) -> None:
    lines: list[str] = []
    reproduce("Title", "c", STEPS[:1], tmp_path, 0, lines.append)
    assert lines == [
        "sentences.best.0: left, about 2m00s, over the budget",
        f"0 of 1 steps done in 0s, about 2m00s left. {tmp_path / 'report.html'}",
    ]
