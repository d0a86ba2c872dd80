"""Mined pairs with English that agree through German: are they right more often than as many likely ones?

    python -m benchmarks.training.triangle --encoder BUNDLE --data DIR [--recipe open] LANGUAGE ...

The odd lines of benchmark/everyday_LANGUAGE are put among the text `everyday` as by
benchmarks.training.mining_recall, and rounds pair the language with English, it with German, and German
with English. A pair with English agrees if the partner of the German partner is the same sentence,
contradicts if it is another, else there is none. A line of JSON a language and kind of pairs: how many, of
the lines how many are paired, and how many of these with their own translation. "likeliest": as many pairs
as agree, by probability; "through German": of sentences that have no other. `--look` prints some sentences
that contradict, with the least probability of the three pairs and both English ones, which say the same or
one is wrong: to be judged by reading.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import numpy as np

from benchmarks.training.mining_recall import PIVOT, TEXT, among, dev_lines, mined, mining_settings
from training.data.folder import texts_by_name
from training.encoders.stored import open_start
from training.mining.rounds import PIVOT_DRAW

THIRD = "de"
Found = Mapping[str, tuple[str, float]]  # sentence -> its partner, and how probable that is


@click.command()
@click.option("--encoder", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--recipe", default="open", show_default=True, help="The mining settings and the texts.")
@click.option("--sentences", default=32_000, show_default=True, help="Of the text, in each language.")
@click.option("--look", default=0, show_default=True, help="Contradicting pairs to print.")
@click.argument("languages", nargs=-1, required=True)
def main(encoder: Path, data: Path, recipe: str, sentences: int, look: int, languages: Sequence[str]) -> None:
    """Print the figures."""
    start, settings = open_start(encoder), mining_settings(recipe, PIVOT, sentences)
    text = texts_by_name(data, settings.data, settings.seed)[TEXT]
    known = {language: dev_lines(data, language) for language in languages}
    lines = {language: among(own, text[language][:sentences]) for language, own in known.items()}
    translations = (line for own in known.values() for line in own.values())
    lines[PIVOT] = among(translations, text[PIVOT][: PIVOT_DRAW * sentences])
    lines[THIRD] = text[THIRD][: PIVOT_DRAW * sentences]

    def paired(first: str, second: str) -> Found:
        most = mining_settings(recipe, second, max(sentences, len(lines[first])))
        pairs, probabilities = mined(most, start, {code: lines[code] for code in (first, second)}, first)
        return {
            lines[first][i]: (lines[second][j], p) for (i, j), p in zip(pairs, probabilities, strict=True)
        }

    from_third = paired(THIRD, PIVOT)
    for language in languages:
        sides = paired(language, PIVOT), paired(language, THIRD), from_third
        found = kinds(*sides)
        for kind, pairs in found.items():
            told = [pairs[line] == english for line, english in known[language].items() if line in pairs]
            figures = {"pairs": len(pairs), "lines": len(told), "right": sum(told)}
            click.echo(json.dumps({"language": language, "kind": kind, **figures}))
        for sentence in drawn(sorted(found["contradict"]), look):
            third, likely = sides[1][sentence]
            english, around = sides[0][sentence], from_third[third]
            least = min(likely, english[1], around[1])
            click.echo(f"{least:.2f}\t{sentence}\t{english[0]}\t{around[0]}")


def drawn(sentences: Sequence[str], count: int) -> list[str]:
    """Some of the sentences, at random."""
    return [sentences[row] for row in np.random.default_rng(0).permutation(len(sentences))[:count]]


def kinds(direct: Found, to_third: Found, from_third: Found) -> dict[str, dict[str, str]]:
    """Kind of pairs -> sentence -> English."""
    around = {
        sentence: from_third[third][0] for sentence, (third, _) in to_third.items() if third in from_third
    }
    every = {sentence: english for sentence, (english, _) in direct.items()}
    agree = {sentence: english for sentence, english in every.items() if around.get(sentence) == english}
    likeliest = sorted(direct, key=lambda sentence: -direct[sentence][1])[: len(agree)]
    contradict = {s: english for s, english in every.items() if around.get(s, english) != english}
    return {
        "all": every,
        "agree": agree,
        "likeliest": {sentence: every[sentence] for sentence in likeliest},
        "contradict": contradict,
        "no German": {sentence: english for sentence, english in every.items() if sentence not in around},
        "through German": {s: english for s, english in around.items() if s not in every},
    }


if __name__ == "__main__":
    main()
