"""How many of the tokens that the text encoder computes are padding, by the number of groups of like length.

python -m benchmarks.padding --data DIR [--recipe globetrotter]
"""

import json
from pathlib import Path

import click
import numpy as np

from training.data.captions import load_split
from training.data.sampler import PictureSampler
from training.data.tokens import by_length, tokenize, train_tokenizer
from training.recipes.recipe import load_recipe

GROUPS = (1, 2, 4, 8, 16)


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--recipe", "name", default="globetrotter", show_default=True)
def main(data: Path, name: str) -> None:
    """Print one JSON object: groups -> the share of padding in an epoch, and the tokens beside 1 group's."""
    recipe = load_recipe(name)
    captions = load_split(data, "train", recipe.data)
    texts = [caption.text for caption in captions.captions]
    first = recipe.text.encoder == "transformer"
    tokenizer = train_tokenizer(
        texts, recipe.tokenizer, sequence_token=first, max_tokens=recipe.text.max_tokens
    )
    tokens = tokenize(tokenizer, texts)
    batches = PictureSampler(captions, recipe.optimiser.batch_size, recipe.seed).batches(0)
    real = sum(len(tokens[number]) for batch in batches for number in batch)
    padded = {
        groups: sum(
            rows * longest for batch in batches for rows, longest in by_length(batch, tokens, groups)[1]
        )
        for groups in GROUPS
    }
    click.echo(
        json.dumps(
            {
                "recipe": name,
                "batch_size": int(np.mean([len(batch) for batch in batches])),
                "mean_tokens": round(real / sum(map(len, batches)), 1),
                "padding": {groups: round(1 - real / count, 3) for groups, count in padded.items()},
                "tokens": {groups: round(count / padded[1], 3) for groups, count in padded.items()},
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
