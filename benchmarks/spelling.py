"""How much of photos-5 is pictures, how much spelling: ridge regression with and without shared subwords.

python benchmarks/spelling.py --data DIR [--recipe globetrotter-small] [--benchmark multi30k_test_2016]

tf-idf of the recipe's subwords, regressed in closed form onto its picture space, searched with CSLS; each
also with the pictures shuffled. A subword has one row of weights for all languages ("shared"), one for each
("apart"), or one for those languages whose pictures agree on it ("vouched"): the subword's mean pictures in
two languages have a cosine of more than 2 standard errors of chance.
"""

import tempfile
from itertools import combinations
from pathlib import Path

import click
import numpy as np
from ridge import Ridge, Rows, Vectors, centred_space

from evaluation.scores import ALL, score_translation
from evaluation.sets import read_aligned
from training.data.tokens import tokenize
from training.prepare import Prepared, prepare
from training.recipe import load_recipe
from training.run import Run, create_run

RIDGE = 2.0
STANDARD_ERRORS = 2.0


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--recipe", default="globetrotter-small", show_default=True)
@click.option("--benchmark", default="multi30k_test_2016", show_default=True)
@click.option("--languages", default="en,de,pt", show_default=True)
def main(data: Path, recipe: str, benchmark: str, languages: str) -> None:
    """Print a line a way of sharing: R@1 and R@10, with the pictures as they are and shuffled."""
    texts = read_aligned(data / "benchmark" / benchmark, languages.split(","))
    found: dict[str, list[str]] = {"shared": [], "apart": [], "vouched": []}
    for shuffled in ("false", "true"):
        with tempfile.TemporaryDirectory() as folder:
            settings = load_recipe(recipe, [f"data.shuffle_pictures={shuffled}"])
            run = create_run(Path(folder) / "run", settings, resume=False)
            task = Task(run, prepare(run, data))
            for way, cells in found.items():
                cells.append(task.measure(task.rows(way), texts))
    for way, (plain, control) in found.items():
        click.echo(f"{way}: R@1 / R@10 {plain}, pictures shuffled {control}")


class Task:
    """The captions of a prepared run as (caption, language) token rows, and their pictures."""

    def __init__(self, run: Run, prepared: Prepared) -> None:
        self.tokenizer = run.tokenizer()
        self.languages = run.recipe.data.languages
        self.vocabulary = self.tokenizer.get_vocab_size()
        self.tokens = prepared.tokens
        captions = prepared.data.captions
        self.spoken = [self.languages.index(caption.language) for caption in captions]
        self.pictures = np.asarray([caption.picture for caption in captions])
        self.space = centred_space(prepared)

    def rows(self, way: str) -> Rows:
        """(vocabulary, languages): which row of weights a subword of a language has."""
        each = np.arange(self.vocabulary * len(self.languages)).reshape(self.vocabulary, -1)
        if way == "shared":
            return np.repeat(each[:, :1], len(self.languages), axis=1)
        if way == "vouched":
            for token, one, other in self._agreements():
                each[token][each[token] == each[token, other]] = each[token, one]
        return each

    def _agreements(self) -> list[tuple[int, int, int]]:
        """(subword, language, language) where the pictures of both agree on the subword."""
        sums = np.zeros((self.vocabulary, len(self.languages), self.space.shape[1]), np.float32)
        counts = np.zeros((self.vocabulary, len(self.languages)))
        seen = {
            (token, spoken, picture)
            for tokens, spoken, picture in zip(self.tokens, self.spoken, self.pictures.tolist(), strict=True)
            for token in tokens.tolist()
        }
        token, spoken, picture = np.asarray(sorted(seen)).T
        np.add.at(sums, (token, spoken), self.space[picture])
        np.add.at(counts, (token, spoken), 1)
        spectrum = np.linalg.eigvalsh(np.cov(self.space.T))
        dimensions = spectrum.sum() ** 2 / (spectrum**2).sum()  # as many equal ones would vary as much
        agreeing = []
        for one, other in combinations(range(len(self.languages)), 2):
            # Σx·Σy has a standard deviation of sqrt(n m / dimensions) where pictures have nothing in common.
            product = np.einsum("td,td->t", sums[:, one], sums[:, other])
            chance = np.sqrt(counts[:, one] * counts[:, other] / dimensions)
            agreeing += [(int(t), one, other) for t in np.flatnonzero(product > STANDARD_ERRORS * chance)]
        return agreeing

    def measure(self, rows: Rows, texts: dict[str, list[str]]) -> str:
        """Fit the ridge regression, translate the benchmark, "R@1 / R@10"."""
        units = [rows[tokens, spoken] for tokens, spoken in zip(self.tokens, self.spoken, strict=True)]
        documents = len(self.tokens) / len(self.languages)
        ridge = Ridge(units, rows.size, self.space[self.pictures], documents, RIDGE)
        vectors: dict[str, Vectors] = {}
        for code, lines in texts.items():
            spoken = self.languages.index(code)
            vectors[code] = ridge.encode([rows[tokens, spoken] for tokens in tokenize(self.tokenizer, lines)])
        means = score_translation("", "", vectors).means[ALL]
        return f"{means['csls_r1']:.1f} / {means['csls_r10']:.1f}"


if __name__ == "__main__":
    main()
