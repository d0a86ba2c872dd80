"""What a person gets for the questions of tests/people: right, near, nothing or nonsense.

    python -m benchmarks.people --index INDEX [--show]

Each question is asked as the page asks it: three answers at the default threshold, near ones included. right:
the first screen has a right answer above the line; near: it has a near one, or a right one below the line;
nothing: no answer; wrong: something else above the line. Where no answer is right, nothing above the line is.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import click

from benchmarks.servers import serving
from index.answers.answer import Answers
from service.client import Client

FOLDER = Path(__file__).parents[1] / "tests" / "people"
ANSWERS_SHOWN = 3
Verdict = Literal["right", "near", "nothing", "wrong"]


class Question(NamedTuple):
    """A text to translate, and the expressions that an answer must hold to be near, and to be right."""

    kind: str
    source: str
    target: str
    text: str
    near: tuple[str, ...]
    right: tuple[str, ...]

    def judge(self, answers: Answers) -> Verdict:
        """What a person would say of the answers on the first screen."""
        above = [answer.text for answer in answers if answer.match != "near"]
        texts = [answer.text for answer in answers]
        if not self.right:
            return "wrong" if above else "right"
        if any(_holds(text, self.right) for text in above):
            return "right"
        if any(_holds(text, self.near) for text in texts):
            return "near"
        return "wrong" if above else "nothing"


def _holds(text: str, expressions: tuple[str, ...]) -> bool:
    return all(re.search(expression, text) for expression in expressions)


def read_questions() -> Iterator[Question]:
    """All questions of both files."""
    for file, kinds in (("scenes.tsv", ["scene"]), ("questions.tsv", [])):
        for line in (FOLDER / file).read_text("utf-8").splitlines():
            kind, source, target, text, accepted = kinds + line.split("\t")
            near, _, more = accepted.partition(" / ")
            needed = tuple(filter(None, near.split(" & ")))
            yield Question(kind, source, target, text, needed, (*needed, *filter(None, more.split(" & "))))


def ask(client: Client, question: Question) -> Answers:
    """The answers on the first screen."""
    translate = client.words if question.kind == "word" else client.sentences
    response = translate(
        question.text, question.target, source=question.source, k=ANSWERS_SHOWN, include=["near"]
    )
    return response.results[0].translations[question.target]


@click.command()
@click.option("--index", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--show", is_flag=True, help="Print each question with its verdict and answers.")
def main(index: Path, show: bool) -> None:
    """Ask the questions whose languages the index has; print one JSON object: kind -> verdict -> count."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    with serving(index) as (port, _), Client(f"http://127.0.0.1:{port}") as client:
        targets = {language.code: language.targets for language in client.languages()}
        for question in read_questions():
            if question.target not in targets.get(question.source, ()):
                counts[question.kind]["language not in the index"] += 1
                continue
            answers = ask(client, question)
            verdict = question.judge(answers)
            counts[question.kind][verdict] += 1
            if show:
                listed = " | ".join(f"{a.match} {a.confidence:.2f} {a.text}" for a in answers)
                click.echo(f"{verdict}\t{question.source}-{question.target}\t{question.text}\t{listed}")
    click.echo(json.dumps(counts, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
