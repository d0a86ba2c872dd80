"""How much of photos-5 is pictures, how much spelling: ridge regression with and without shared subwords.

python -m benchmarks.training.spelling --data DIR [--recipe globetrotter-small] [--benchmark NAME]

tf-idf of the recipe's subwords, regressed in closed form onto its picture space, searched with CSLS; each
also with the pictures shuffled. A subword has one row of weights for all languages ("shared"), one for each
("per-language"), or one for those languages whose pictures agree on it ("picture-verified":
training.papers.united.verified_bag). Character trigrams, untrained, weighted by tf-idf, show
what languages share by spelling alone.
"""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import click
import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from evaluation.measures.scores import ALL_PAIRS, score_translation
from evaluation.suites.sets import read_aligned
from index.arrays import unit
from index.text.normalisation import clean
from training.data.tokens import tokenize
from training.loop.prepare import prepare
from training.loop.run import Run, create_run
from training.loop.source import CaptionSource
from training.papers.united.verified_bag import verified_rows
from training.recipes.recipe import load_recipe

RIDGE = 2.0
FALSE_SHARE = 0.2
TRIGRAM_CHARACTERS = 3
Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--recipe", default="globetrotter-small", show_default=True)
@click.option("--benchmark", default="multi30k_test_2016", show_default=True)
@click.option("--languages", default="en,de,pt", show_default=True)
def main(data: Path, recipe: str, benchmark: str, languages: str) -> None:
    """Print a line a way of sharing: R@1 and R@10, with the pictures as they are and shuffled."""
    texts = read_aligned(data / "benchmark" / benchmark, languages.split(","))
    recalls: dict[str, list[str]] = {"shared": [], "per-language": [], "picture-verified": []}
    for shuffled in ("false", "true"):
        with tempfile.TemporaryDirectory() as folder:
            settings = load_recipe(recipe, [f"data.shuffle_pictures={shuffled}"])
            run = create_run(Path(folder) / "run", settings, resume=False)
            task = Task(run, prepare(run, data))
            for way, cells in recalls.items():
                cells.append(task.measure(task.rows(way), texts))
    for way, (plain, control) in recalls.items():
        click.echo(f"{way}: R@1 / R@10 {plain}, pictures shuffled {control}")
    click.echo(f"trigrams: R@1 / R@10 {recalls_of(weigh(texts))}")


def recalls_of(vectors: Mapping[str, Vectors]) -> str:
    """Score the translation between all languages: "R@1 / R@10"."""
    means = score_translation("", "", vectors).means[ALL_PAIRS]
    return f"{means['csls_r1']:.1f} / {means['csls_r10']:.1f}"


class Ridge:
    """A ridge regression from tf-idf of units (words, subwords) onto vectors.

    sentences: the units of each, numbers below `width`. targets: (n, d), a vector for each sentence.
    documents: the number of sentences that inverse frequencies refer to. penalty: weight of the squared norm.
    """

    def __init__(
        self, sentences: Sequence[Rows], width: int, targets: Vectors, documents: float, penalty: float
    ) -> None:
        self.width = width
        counts = unit_counts(sentences, width)
        frequency = np.asarray((counts > 0).sum(axis=0)).ravel()
        self.used = np.flatnonzero(frequency)
        self.rarity = np.log(documents / frequency[self.used]).clip(0.1)
        x = tf_idf(counts[:, self.used], self.rarity)
        gram = (x.T @ x).toarray() + penalty * np.eye(len(self.used))
        self.weights = np.linalg.solve(gram, x.T @ targets)

    def encode(self, sentences: Sequence[Rows]) -> Vectors:
        """Predict (n, d) unit rows; a sentence of unknown units is zero."""
        counts = unit_counts(sentences, self.width)
        return unit(tf_idf(counts[:, self.used], self.rarity) @ self.weights)


class Task:
    """The captions of a prepared run as (caption, language) token rows, and their pictures."""

    def __init__(self, run: Run, prepared: CaptionSource) -> None:
        self.tokenizer = run.tokenizer()
        self.languages = run.recipe.data.languages
        self.vocabulary = self.tokenizer.get_vocab_size()
        self.tokens = prepared.data.tokens
        captions = prepared.data.captions.captions
        self.spoken = [self.languages.index(caption.language) for caption in captions]
        self.pictures = np.asarray([caption.picture for caption in captions])
        space = unit(prepared.pictures.plain(np.arange(len(prepared.data.captions.pictures))).numpy())
        self.space = unit(space - space.mean(axis=0))  # centred

    def rows(self, way: str) -> Rows:
        """(vocabulary, languages): which row of weights a subword of a language has."""
        shape = (self.vocabulary, len(self.languages))
        each = np.arange(self.vocabulary)[:, None] + self.vocabulary * np.arange(len(self.languages))
        if way == "shared":
            return np.repeat(each[:, :1], len(self.languages), axis=1)
        if way == "per-language":
            return each
        spoken, share = np.asarray(self.spoken), FALSE_SHARE
        return verified_rows(
            self.tokens, spoken, self.pictures, self.space, shape=shape, false_discovery_rate=share
        )

    def measure(self, rows: Rows, texts: dict[str, list[str]]) -> str:
        """Fit the ridge regression, translate the benchmark, "R@1 / R@10"."""
        units = [rows[tokens, spoken] for tokens, spoken in zip(self.tokens, self.spoken, strict=True)]
        documents = len(self.tokens) / len(self.languages)
        ridge = Ridge(units, rows.size, self.space[self.pictures], documents, RIDGE)
        vectors: dict[str, Vectors] = {}
        for code, lines in texts.items():
            spoken = self.languages.index(code)
            vectors[code] = ridge.encode([rows[tokens, spoken] for tokens in tokenize(self.tokenizer, lines)])
        return recalls_of(vectors)


def known_units(line: Sequence[str], rows: dict[str, int]) -> Rows:
    return np.asarray([rows[word] for word in line if word in rows], np.int64)


def unit_counts(rows: Sequence[Rows], width: int) -> sparse.csr_array:
    """How often each unit occurs in each sentence."""
    starts = np.cumsum([0, *(len(row) for row in rows)])
    ones = np.ones(int(starts[-1]), np.float32)
    counts = sparse.csr_array((ones, np.concatenate(rows), starts), shape=(len(rows), width))
    counts.sum_duplicates()
    return counts


def tf_idf(counts: sparse.csr_array, rarity: NDArray[np.floating]) -> sparse.csr_array:
    """Logarithmic counts times rarity, unit rows."""
    weighted = counts.copy()
    weighted.data = (1 + np.log(weighted.data)) * rarity[weighted.indices]
    norms = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1))).ravel()
    return sparse.csr_array(sparse.diags_array(1 / np.maximum(norms, 1e-9)) @ weighted)


def weigh(texts: Mapping[str, Sequence[str]]) -> dict[str, Vectors]:
    """Weigh trigrams by tf-idf: language -> n sentences to language -> (n, d) unit rows.

    d is the number of trigrams that occur in two sentences or more, in any language.
    """
    sentences = {code: [trigrams(line) for line in lines] for code, lines in texts.items()}
    frequency = Counter(chain.from_iterable(map(set, chain.from_iterable(sentences.values()))))
    repeated = sorted(trigram for trigram, count in frequency.items() if count > 1)
    places = {trigram: place for place, trigram in enumerate(repeated)}
    rarity = np.log(sum(map(len, texts.values())) / np.array([frequency[trigram] for trigram in repeated]))
    return {
        code: tf_idf(unit_counts([known_units(line, places) for line in lines], len(places)), rarity)
        .toarray()
        .astype(np.float32)
        for code, lines in sentences.items()
    }


def trigrams(text: str) -> list[str]:
    """List the trigrams of a sentence, lower-cased, with a space at either end."""
    padded = f" {clean(text).lower()} "
    return [
        padded[start : start + TRIGRAM_CHARACTERS] for start in range(len(padded) - TRIGRAM_CHARACTERS + 1)
    ]


if __name__ == "__main__":
    main()
