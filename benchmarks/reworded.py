"""Phrases of an index as people say them otherwise: are they found, and are others kept apart?

    python -m benchmarks.reworded --index INDEX [--half test] [--target de]

`reworded.tsv` has, for 192 phrases of corpora/phrases in each of eleven languages, a sentence that says the
same (`same`) and one that is like it and says something else (`other`), by who had not read the code. Per
cent of each: `right`, the approved sentence is given; `shown`, it is among the first three answers, given or
near; `another` is given; else nothing is. What the code does was chosen by 152 of them (`dev`); the others
(`test`) were written later, and no answer to them was looked at.
"""

import json
from collections import Counter
from pathlib import Path

import click

from index.answers.answer import Answers, likely
from index.answers.translator import Translator
from index.confidence import MIN_CONFIDENCE
from index.text.normalisation import clean

SHOWN = 3  # answers, as on the page
FILE = Path(__file__).with_suffix(".tsv")
PHRASES = Path(__file__).parents[1] / "corpora" / "phrases" / "phrases.tsv"


@click.command()
@click.option("--index", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--half", type=click.Choice(["dev", "test"]), default="test", show_default=True)
@click.option("--target", default="de", show_default=True, help="German asks English.")
def main(index: Path, half: str, target: str) -> None:
    """Print a line of JSON for each language, and one for all."""
    translator, every = Translator.open(index), Counter[str]()
    phrases, rows = _rows(PHRASES), [row for row in _rows(FILE) if row["half"] == half]
    for code in dict.fromkeys(row["language"] for row in rows):
        to, figures = target if code != target else "en", Counter[str]()
        own = [row for row in rows if row["language"] == code]
        for kind in ("same", "other"):
            found = translator.sentences([row[kind] for row in own], code, to, SHOWN)
            for row, answers in zip(own, found, strict=True):
                seen = likely(answers, MIN_CONFIDENCE, translator.confidence.near)
                figures[f"{kind}, {_given(seen, phrases[int(row['phrase'])][to])}"] += 1
        every += figures
        click.echo(json.dumps({"language": code, **_shares(figures, len(own))}))
    click.echo(json.dumps({"language": "all", **_shares(every, len(rows))}))


def _given(answers: Answers, approved: str) -> str:
    right = [answer.match != "near" for answer in answers if answer.text == approved]
    if right:
        return "right" if answers[0].text == approved and right[0] else "shown"
    return "another" if answers and answers[0].match != "near" else "nothing"


def _shares(figures: Counter[str], asked: int) -> dict[str, float]:
    return {name: round(100 * count / asked, 1) for name, count in sorted(figures.items())}


def _rows(file: Path) -> list[dict[str, str]]:
    header, *lines = (line.split("\t") for line in file.read_text("utf-8").splitlines())
    return [dict(zip(header, map(clean, line), strict=True)) for line in lines]


if __name__ == "__main__":
    main()
