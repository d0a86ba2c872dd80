"""Phrases asked in languages that an index has no sentences of: is what comes back right?

    python -m benchmarks.phrases --encoder models/open [--target de]

The index is of corpora/everyday, and of every second phrase in its eleven languages. asked: of each half;
right, wrong: per cent of the phrases that the index has whose first answer is called a translation, and is
that of the phrase, or is not; missing: per cent of those that it lacks whose first answer is called one.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from index.answers.translator import Translator
from index.build.build_index import build_index
from index.encoder.bundle import open_bundle
from index.formats.registry import Source
from index.storage.options import Cleaning, Options
from index.text.normalisation import clean

CORPORA = Path(__file__).parents[1] / "corpora"
SERVED = ("en", "de", "pt", "zh", "ar", "tr", "fr", "cs", "es", "uk", "hi")
ID_COLUMN = "ind"  # Indonesian: a column "id" is one of IDs


@click.command()
@click.option("--encoder", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--target", type=click.Choice(SERVED), default="de", show_default=True)
def main(encoder: Path, target: str) -> None:
    """Print one JSON object: language, or all -> its figures."""
    header, *lines = (CORPORA / "phrases" / "phrases.tsv").read_text("utf-8").splitlines()
    columns = header.split("\t")
    rows = [dict(zip(columns, line.split("\t"), strict=True)) for line in lines]
    with TemporaryDirectory(prefix="passepartout-") as work:
        half = Path(work) / "phrases.tsv"
        half.write_text("\n".join([header, *lines[::2]]) + "\n", "utf-8")
        sources = [
            Source(file, code) for code in SERVED for file in (CORPORA / "everyday" / f"{code}.txt", half)
        ]
        build_index(
            open_bundle(encoder),
            sources,
            Path(work) / "index",
            cleaning=Cleaning(("language",)),
            options=Options(aligned=True),
        )
        translator = Translator.open(Path(work) / "index")
    figures, every = {}, Counter[str]()
    for column in columns[columns.index("en") :]:
        if column in SERVED:
            continue
        code = "id" if column == ID_COLUMN else column
        counted = ask(translator, code, target, [(row[column], row[target]) for row in rows])
        figures[code] = shares(counted)
        every += counted
    click.echo(json.dumps({**figures, "all": shares(every)}, indent=1))


def ask(translator: Translator, source: str, target: str, pairs: Sequence[tuple[str, str]]) -> Counter[str]:
    """How often the first answer to a text is its translation or another; every second text is missing."""
    answers = translator.sentences([text for text, _ in pairs], source, target)
    counted = Counter(asked=len(pairs[::2]), asked_missing=len(pairs[1::2]))
    for number, ((_, right), found) in enumerate(zip(pairs, answers, strict=True)):
        if found and found[0].match != "near":
            present = "right" if found[0].text == clean(right) else "wrong"
            counted["missing" if number % 2 else present] += 1
    return counted


def shares(counted: Counter[str]) -> dict[str, float]:
    """The figures of some questions, in per cent."""
    of = {"right": "asked", "wrong": "asked", "missing": "asked_missing"}
    return {name: round(100 * counted[name] / counted[whole], 1) for name, whole in of.items()} | {
        "asked": counted["asked"]
    }


if __name__ == "__main__":
    main()
