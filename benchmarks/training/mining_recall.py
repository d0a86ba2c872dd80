"""How many translations a round of mining finds, of lines whose translation is known to be there.

    python -m benchmarks.training.mining_recall --encoder BUNDLE --data DIR [--recipe open] LANGUAGE ...

The odd lines of benchmark/everyday_LANGUAGE are put among the text `everyday`, the language's among its own
sentences and the English ones among the English, and a round mines them all with the bundle's encoder. A line
a language: sentences; how many are paired; of the lines, how many are paired, how many of these with their
own translation, and the same of those that are called at least so probable.
"""

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from evaluation.suites.sets import read_aligned
from index.arrays import unit
from training.data.captions import CaptionedPictures
from training.data.folder import texts_by_name
from training.data.tokens import tokenize
from training.data.training_data import TrainingData
from training.encoders.stored import Start, open_start
from training.mining.rounds import PIVOT_DRAW, Round, Words
from training.recipes.recipe import Recipe, load_recipe

PIVOT, TEXT = "en", "everyday"
PROBABLE = (0.3, 0.5, 0.7, 0.9)
MINING = ("stages=[]", "mining.begin=1", "mining.every=1", "mining.words=1", "mining.contexts=0")


@click.command()
@click.option("--encoder", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--recipe", default="open", show_default=True, help="The mining settings and the texts.")
@click.option("--sentences", default=32_000, show_default=True, help="Of the text, in each language.")
@click.argument("languages", nargs=-1, required=True)
def main(encoder: Path, data: Path, recipe: str, sentences: int, languages: tuple[str, ...]) -> None:
    """Print a line a language."""
    settings = load_recipe(
        recipe, (*MINING, f'mining.pivots=["{PIVOT}"]', f"mining.sentences={2 * sentences}")
    )
    start = open_start(encoder)
    text = texts_by_name(data, settings.data, settings.seed)[TEXT]
    for language in languages:
        both = read_aligned(data / "benchmark" / f"{TEXT}_{language}", [language, PIVOT])
        known = dict(zip(both[language][::2], both[PIVOT][::2], strict=True))
        lines = {
            language: list(dict.fromkeys([*known, *text[language][:sentences]])),
            PIVOT: list(dict.fromkeys([*known.values(), *text[PIVOT][: PIVOT_DRAW * sentences]])),
        }
        pairs, probabilities = mined(settings, start, lines, language)
        found = {
            lines[language][i]: (lines[PIVOT][j], p) for (i, j), p in zip(pairs, probabilities, strict=True)
        }
        told = [(found[line][1], found[line][0] == known[line]) for line in known if line in found]
        likely = {
            least: [is_own for probability, is_own in told if probability >= least] for least in PROBABLE
        }
        of_lines = [f"{len(own)} at {least}, right {sum(own)}" for least, own in likely.items()]
        summary = f"{len(lines[language])} sentences, {len(pairs)} paired; of {len(known)} lines "
        click.echo(f"{language}: {summary}{', '.join(of_lines)}")


def mined(
    recipe: Recipe, start: Start, lines: dict[str, list[str]], language: str
) -> tuple[list[tuple[int, int]], Sequence[float]]:
    """The pairs of sentences (i of the language, j of the pivot) of a round, and how probable each is."""
    tokenizer = Tokenizer.from_file(str(start.tokenizer))
    tokens = {code: tokenize(tokenizer, rows) for code, rows in lines.items()}
    sizes = {TEXT: {code: len(rows) for code, rows in lines.items()}}
    nothing = CaptionedPictures((), ())
    data = TrainingData(
        tuple(lines),
        recipe.seed,
        tokenizer,
        nothing,
        [],
        texts=lines,
        sentences=tokens,
        text_sizes=sizes,
        mine_captions=False,
    )
    words = {code: Words.of(code, rows) for code, rows in lines.items()}
    named = {code: tokenize(tokenizer, known.words.names) for code, known in words.items()}
    data.pseudopairs.add_words(named, {code: known.words.rows for code, known in words.items()})

    def embed(rows: Sequence[NDArray[np.int32]]) -> NDArray[np.float32]:
        starts = np.cumsum([0, *map(len, rows)])[:-1]
        return unit(np.add.reduceat(start.embeddings[np.concatenate(rows)], starts, axis=0))

    assert recipe.mining is not None, "MINING"
    pairs, weights = Round(data.pseudopairs, 1, embed, recipe.mining, words).mined()
    of_sentences = pairs[language, PIVOT][:, 0] < len(lines[language])
    rows = [(int(i), int(j)) for i, j in pairs[language, PIVOT][of_sentences]]
    return rows, weights[language, PIVOT][of_sentences].tolist()


if __name__ == "__main__":
    main()
