"""Phrases of an index as people say them otherwise: are they found, and are others kept apart?

    python -m benchmarks.reworded --index INDEX [--half test] [--target de] [--spoken]
    python -m benchmarks.reworded --encoder BUNDLE [--half test] [--spoken]

`reworded.tsv` has, for 192 phrases of corpora/phrases in each of eleven languages, a sentence that says the
same (`same`) and one that is like it and says something else (`other`), by who had not read the code. Per
cent of each: `right`, the approved sentence is given; `shown`, it is among the first three answers, given or
near; `another` is given; else nothing is. What the code does was chosen by 152 of them (`dev`); the others
(`test`) were written later, and no answer to them was looked at. With a bundle, a table of those phrases
alone is asked, whose other column is in a language that no encoder knows. `--spoken`: 30 phrases in each
language as somebody says them aloud (`spoken.tsv`: "doctor, could you tell me ..."), mostly in their words.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from index.answers.answer import Answers, likely
from index.answers.translator import Translator
from index.build.build_index import build_index
from index.confidence import MIN_CONFIDENCE
from index.encoder.bundle import open_bundle
from index.formats.registry import Source
from index.storage.options import Cleaning
from index.text.normalisation import clean

SHOWN = 3  # answers, as on the page
UNKNOWN = "qaa"
FILE, SPOKEN = (Path(__file__).with_name(f"{name}.tsv") for name in ("reworded", "spoken"))
PHRASES = Path(__file__).parents[1] / "corpora" / "phrases" / "phrases.tsv"

Row = Mapping[str, str]


@click.command()
@click.option("--index", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--encoder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--half", type=click.Choice(["dev", "test"]), default="test", show_default=True)
@click.option("--target", default="de", show_default=True, help="German asks English.")
@click.option("--spoken", is_flag=True, help="Ask what somebody says aloud.")
def main(index: Path | None, encoder: Path | None, half: str, target: str, spoken: bool) -> None:
    """Print a line of JSON for each language, and one for all."""
    rows = [row for row in _rows(SPOKEN if spoken else FILE) if row["half"] == half]
    phrases = _rows(PHRASES)
    opened, every = Translator.open(index) if index else None, Counter[str]()
    for code in dict.fromkeys(row["language"] for row in rows):
        own = [row for row in rows if row["language"] == code]
        approved = [phrases[int(row["phrase"])] for row in own]
        if opened:
            to = target if code != target else "en"
            figures = _asked(opened, own, [phrase[to] for phrase in approved], code, to)
        elif encoder:
            numbers = [f"phrase {row['phrase']}" for row in own]
            translator = _table(encoder, code, [phrase[code] for phrase in approved], numbers)
            figures = _asked(translator, own, numbers, code, UNKNOWN)
        else:
            raise click.UsageError("give --index or --encoder")
        every += figures
        click.echo(json.dumps({"language": code, **_shares(figures, len(own))}))
    click.echo(json.dumps({"language": "all", **_shares(every, len(rows))}))


def _table(encoder: Path, code: str, phrases: Sequence[str], numbers: Sequence[str]) -> Translator:
    """An index of some phrases in one language and what stands for them in another."""
    with TemporaryDirectory() as folder:
        table = Path(folder) / "phrases.tsv"
        lines = [(code, UNKNOWN), *zip(phrases, numbers, strict=True)]
        table.write_text("\n".join(map("\t".join, lines)) + "\n", "utf-8")
        build_index(
            open_bundle(encoder), [Source(table)], Path(folder) / "index", cleaning=Cleaning(("language",))
        )
        return Translator.open(Path(folder) / "index")


def _asked(
    translator: Translator, rows: Sequence[Row], approved: Sequence[str], code: str, to: str
) -> Counter[str]:
    figures = Counter[str]()
    for kind in ("same", "other"):
        found = translator.sentences([row[kind] for row in rows], code, to, SHOWN)
        for answers, text in zip(found, approved, strict=True):
            seen = likely(answers, MIN_CONFIDENCE, translator.confidence.near)
            figures[f"{kind}, {_given(seen, text)}"] += 1
    return figures


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
