"""Pairs that two encoders mine: are those that both find right more often, and what does either add?

    python -m benchmarks.training.two_encoders --encoder BUNDLE --other BUNDLE --data DIR LANGUAGE ...

The odd lines of benchmark/everyday_LANGUAGE are put among the text `everyday` and mined with each encoder,
as by benchmarks.training.mining_recall. A line of JSON a language and kind of pairs with English: how many,
of the lines how many are paired, and how many of these with their own translation. "both": the same pair;
"likeliest": as many of the first encoder's, by probability; "other's": what the other pairs and the first
does not.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from benchmarks.training.mining_recall import PIVOT, TEXT, among, dev_lines, mined, mining_settings
from training.data.folder import texts_by_name
from training.encoders.stored import open_start
from training.mining.rounds import PIVOT_DRAW

Found = Mapping[str, tuple[str, float]]  # sentence -> its partner, and how probable that is
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option("--encoder", type=FOLDER, required=True)
@click.option("--other", type=FOLDER, required=True)
@click.option("--data", type=FOLDER, required=True)
@click.option("--recipe", default="open", show_default=True, help="The mining settings and the texts.")
@click.option("--sentences", default=32_000, show_default=True, help="Of the text, in each language.")
@click.argument("languages", nargs=-1, required=True)
def main(
    encoder: Path, other: Path, data: Path, recipe: str, sentences: int, languages: Sequence[str]
) -> None:
    """Print the figures."""
    settings, starts = mining_settings(recipe, PIVOT, sentences), [open_start(encoder), open_start(other)]
    text = texts_by_name(data, settings.data, settings.seed)[TEXT]
    for language in languages:
        known = dev_lines(data, language)
        own = among(known, text[language][:sentences])
        english = among(known.values(), text[PIVOT][: PIVOT_DRAW * sentences])
        sides: list[Found] = []
        for start in starts:
            pairs, probabilities = mined(settings, start, {language: own, PIVOT: english}, language)
            rows = zip(pairs, probabilities, strict=True)
            sides.append({own[i]: (english[j], probability) for (i, j), probability in rows})
        for kind, found in kinds(*sides).items():
            told = [found[line] == translation for line, translation in known.items() if line in found]
            figures = {"pairs": len(found), "lines": len(told), "right": sum(told)}
            click.echo(json.dumps({"language": language, "kind": kind, **figures}))


def kinds(first: Found, second: Found) -> dict[str, dict[str, str]]:
    """Kind of pairs -> sentence -> English."""
    own, others = ({line: english for line, (english, _) in found.items()} for found in (first, second))
    both = {line: english for line, english in own.items() if others.get(line) == english}
    likeliest = sorted(first, key=lambda line: -first[line][1])[: len(both)]
    return {
        "first": own,
        "other": others,
        "both": both,
        "likeliest": {line: own[line] for line in likeliest},
        "other's": {line: english for line, english in others.items() if line not in own},
    }


if __name__ == "__main__":
    main()
