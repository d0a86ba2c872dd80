"""English sentences whose nearest sentence in another language is the same one: do they say the same?

    python -m benchmarks.training.paraphrases --encoder BUNDLE --data DIR [--language de] [--look 50]

First a line of JSON for each half of benchmarks/reworded.tsv: of its English sentences that say the same as
a phrase, per cent that find it first among the phrases of the half and the lines of corpora/everyday.

Then of the text `everyday`. The partner of an English sentence is the nearest of the other language by
CSLS. A line a least cosine with the partner: English sentences that have so much; pairs of those with one
partner whose words are not the same (each with the first that has it); the share of words that a pair has
in common, mean; and how many pairs have half of them at most. `--look` of the pairs of `--least`, drawn at
random, are to be read; and of as many that are each other's nearest in English.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import click
import faiss
import numpy as np
from numpy.typing import NDArray

from benchmarks.reworded import FILE, PHRASES
from benchmarks.training.mining_recall import PIVOT, TEXT
from evaluation.suites.sets import read_lines, read_table
from index.arrays import Numbers, Vectors
from index.encoder.bundle import open_bundle
from index.encoder.text_encoder import TextEncoder
from index.text.normalisation import clean, words
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, csls, csls_scores
from training.data.folder import load_texts

EVERYDAY = PHRASES.parents[1] / "everyday" / "en.txt"
LEAST = (0.5, 0.6, 0.7, 0.8)
Pairs = Sequence[tuple[str, str]]


@click.command()
@click.option("--encoder", "bundle", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--language", default="de", show_default=True)
@click.option("--sentences", default=40_000, show_default=True, help="English ones.")
@click.option("--look", default=0, show_default=True, help="Pairs to print.")
@click.option("--least", default=0.7, show_default=True, help="Cosine of those with their partner.")
def main(bundle: Path, data: Path, language: str, sentences: int, look: int, least: float) -> None:
    """Print the figures, and pairs."""
    encoder = TextEncoder(open_bundle(bundle))
    for half in ("dev", "test"):
        click.echo(json.dumps({"half": half, **reworded_first(encoder, half)}))
    texts = load_texts(data, TEXT, [PIVOT, language], 0)
    english, foreign = texts[PIVOT][:sentences], texts[language]
    vectors = encoder.encode(english, language=PIVOT)
    cosines, partners = nearest(vectors, encoder.encode(foreign, language=language))
    for bound in sorted({*LEAST, least}):
        pairs = with_one_partner(english, partners, cosines >= bound)
        shared = np.array([common(*pair) for pair in pairs] or [0.0])
        figures = {"least": bound, "with": int((cosines >= bound).sum()), "pairs": len(pairs)}
        words_of = {"common": round(100 * float(shared.mean()), 1), "other": int((shared <= 0.5).sum())}
        click.echo(json.dumps(figures | words_of))
    if look:
        pairs = with_one_partner(english, partners, cosines >= least)
        show("one partner", pairs, look)
        alike, own = nearest(vectors, vectors, others=True)
        mutual = [i for i in np.argsort(-alike) if own[own[i]] == i and i < own[i]]
        found = [(english[i], english[own[i]]) for i in mutual]
        show("nearest in English", [pair for pair in found if common(*pair) < 1][: len(pairs)], look)


def reworded_first(encoder: TextEncoder, half: str) -> dict[str, float]:
    """Per cent of the English rewordings of a half whose phrase is first, by cosine and by CSLS."""
    _, *lines = read_table(FILE, ("half", "language", "phrase", "same", "other"))
    own = [row for row in lines if row[:2] == [half, PIVOT]]
    names, *phrases = (line.split("\t") for line in PHRASES.read_text("utf-8").splitlines())
    approved = [clean(phrases[int(row[2])][names.index(PIVOT)]) for row in own]
    candidates = list(dict.fromkeys([*approved, *read_lines(EVERYDAY)]))
    cosines = encoder.encode([row[3] for row in own]) @ encoder.encode(candidates).T
    figures: dict[str, float] = {"asked": len(own), "among": len(candidates)}
    for name, scores in {"cosine": cosines, "csls": csls(cosines)}.items():
        hits = [candidates[best] == text for best, text in zip(scores.argmax(axis=1), approved, strict=True)]
        figures[name] = round(100 * float(np.mean(hits)), 1)
    return figures


def nearest(queries: Vectors, rows: Vectors, *, others: bool = False) -> tuple[Vectors, Numbers]:
    """The cosine of each query with its nearest row by CSLS, and which; `others`: than the query's own."""
    hubness = faiss.knn(rows, queries, CSLS_NEIGHBOURS, metric=faiss.METRIC_INNER_PRODUCT)[0].mean(axis=1)
    cosines, found = faiss.knn(queries, rows, CSLS_NEIGHBOURS, metric=faiss.METRIC_INNER_PRODUCT)
    scores = csls_scores(cosines, np.zeros(1), hubness[found])
    if others:
        scores[found == np.arange(len(queries))[:, None]] = -np.inf
    each, best = np.arange(len(queries)), scores.argmax(axis=1)
    return cosines[each, best], found[each, best]


def with_one_partner(english: Sequence[str], partners: Numbers, kept: NDArray[np.bool_]) -> Pairs:
    """Those kept that have one partner, in pairs with the first that has it, if their words differ."""
    first: dict[int, str] = {}
    pairs = []
    for row in np.flatnonzero(kept).tolist():
        other = first.setdefault(int(partners[row]), english[row])
        if common(other, english[row]) < 1:
            pairs.append((other, english[row]))
    return pairs


def common(first: str, second: str) -> float:
    """The share of the words of two English sentences that both have (Jaccard)."""
    both = [set(words(text, PIVOT)) for text in (first, second)]
    return len(both[0] & both[1]) / max(1, len(both[0] | both[1]))


def show(name: str, pairs: Pairs, count: int) -> None:
    """Print some of the pairs, drawn at random."""
    for row in np.random.default_rng(0).permutation(len(pairs))[:count]:
        click.echo("\t".join((name, *pairs[row])))


if __name__ == "__main__":
    main()
