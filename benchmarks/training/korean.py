"""What Korean words are compared by in a round of mining: which units pair most lines with their translation?

    python -m benchmarks.training.korean --encoder BUNDLE --data DIR [--recipe open]

The odd lines of benchmark/everyday_ko and the phrases of corpora/phrases are mined as the former are by
benchmarks.training.mining_recall, once with each kind of units: the first syllables of a word, its first
letters (jamo), or all that a word has, one by one or in runs. A line a kind, of lines and of phrases as
there, and the minutes that the round took.
"""

import time
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import click
import numpy as np

from benchmarks.training.mining_recall import (
    PIVOT,
    TEXT,
    among,
    dev_lines,
    mined,
    mining_settings,
    of_lines,
)
from index.text.normalisation import words
from training.data.folder import texts_by_name
from training.encoders.stored import open_start
from training.mining.rounds import PIVOT_DRAW, Words
from training.mining.words import Vocabulary

KOREAN = "ko"
PHRASES = Path(__file__).parents[2] / "corpora" / "phrases" / "phrases.tsv"
Units = Callable[[str], Sequence[str]]


def first_syllables(word: str, count: int) -> Sequence[str]:
    return [word[:count]]


def first_letters(word: str, count: int) -> Sequence[str]:
    return [unicodedata.normalize("NFD", word)[:count]]


def runs(word: str, length: int) -> Sequence[str]:
    """All runs of so many syllables, or the word if it is shorter."""
    return [word[start : start + length] for start in range(max(1, len(word) - length + 1))]


KINDS: dict[str, Units] = {
    **{f"first syllables, {count}": partial(first_syllables, count=count) for count in (2, 1, 3)},
    **{f"first letters, {count}": partial(first_letters, count=count) for count in (3, 4, 5, 6, 8)},
    **{f"runs of syllables, {length}": partial(runs, length=length) for length in (1, 2)},
}


@click.command()
@click.option("--encoder", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--recipe", default="open", show_default=True, help="The mining settings and the texts.")
@click.option("--sentences", default=32_000, show_default=True, help="Of the text, in each language.")
def main(encoder: Path, data: Path, recipe: str, sentences: int) -> None:
    """Print a line a kind of units."""
    settings, start = mining_settings(recipe, PIVOT, sentences), open_start(encoder)
    text = texts_by_name(data, settings.data, settings.seed)[TEXT]
    kinds_of_known = {"lines": dev_lines(data, KOREAN), "phrases": phrases()}
    known = kinds_of_known["lines"] | kinds_of_known["phrases"]
    lines = {
        KOREAN: among(known, text[KOREAN][:sentences]),
        PIVOT: among(known.values(), text[PIVOT][: PIVOT_DRAW * sentences]),
    }
    english = Words.of(PIVOT, lines[PIVOT])
    for kind, units in KINDS.items():
        began = time.monotonic()
        compared = {KOREAN: words_by(units, lines[KOREAN]), PIVOT: english}
        pairs, probabilities = mined(settings, start, lines, KOREAN, compared)
        minutes = (time.monotonic() - began) / 60
        found = {
            lines[KOREAN][i]: (lines[PIVOT][j], p) for (i, j), p in zip(pairs, probabilities, strict=True)
        }
        told = [f"of {len(own)} {name} {of_lines(found, own)}" for name, own in kinds_of_known.items()]
        click.echo(f"{kind}: {len(pairs)} paired; {'; '.join(told)}; {minutes:.1f} minutes")


def phrases() -> dict[str, str]:
    """The Korean phrases and what they say."""
    header, *rows = (line.split("\t") for line in PHRASES.read_text("utf-8").splitlines())
    korean, english = (header.index(code) for code in (KOREAN, PIVOT))
    return {row[korean]: row[english] for row in rows}


def words_by(units: Units, lines: Sequence[str]) -> Words:
    """Words whose units stand for their stems; a word by itself has its first one's translations."""
    spelled = [words(line, KOREAN) for line in lines]
    listed = Vocabulary.of(spelled)
    stems = Vocabulary.of([[unit for word in sentence for unit in units(word)] for sentence in spelled])
    number = {name: place for place, name in enumerate(stems.names)}
    stem_of = [number.get(units(word)[0], len(number)) for word in listed.names]
    return Words(listed, stems, np.asarray(stem_of, np.int64))


if __name__ == "__main__":
    main()
