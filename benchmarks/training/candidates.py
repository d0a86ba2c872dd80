"""Words of a dictionary among the frequent words of a language and among all: which score is best?

    python -m benchmarks.training.candidates --encoder BUNDLE --data DIR --dictionary en:de=FILE.tsv

A line of JSON for each half of the dictionary (as benchmarks.words has them: choose by `dev`) and each set
of candidates: the words of the bundle's own lists, and those of all texts in `DIR`/text, too. P@1 by cosine
and by CSLS, and by each less a weight times how much rarer or more frequent, by the natural logarithm, a
candidate is than the word.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from zlib import crc32

import click
import faiss
import numpy as np

from benchmarks.words import HALVES
from evaluation.suites.sets import read_lines
from evaluation.suites.words import Dictionary, read_dictionary
from index.arrays import Vectors
from index.encoder.bundle import open_bundle
from index.encoder.text_encoder import TextEncoder
from index.text.normalisation import words
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, csls_scores
from index.words.vocabulary import by_frequency, training_words

WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)  # of a difference in frequency


@click.command()
@click.option("--encoder", "bundle", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--dictionary", "dictionaries", multiple=True, required=True, metavar="FROM:TO=FILE")
def main(bundle: Path, data: Path, dictionaries: Sequence[str]) -> None:
    """Print the shares, in per cent."""
    encoder = TextEncoder(open_bundle(bundle))
    for dictionary in map(read_dictionary, dictionaries):
        codes = dictionary.source, dictionary.target
        own = [training_words(encoder.bundle, code) for code in codes]
        texts = [own_words + read_words(data, code) for own_words, code in zip(own, codes, strict=True)]
        for name, (source, target) in {"own": own, "all": texts}.items():
            for half in HALVES:
                figures = precision(encoder, dictionary, half, source, target)
                pair = "-".join(codes)
                click.echo(json.dumps({"pair": pair, "candidates": name, "half": half, **figures}))


def read_words(data: Path, code: str) -> Counter[str]:
    """How often the words of a language occur in its texts."""
    files = sorted((data / "text").glob(f"*.{code}.txt"))
    return Counter(word for file in files for line in read_lines(file) for word in words(line, code))


def precision(
    encoder: TextEncoder, dictionary: Dictionary, half: str, source: Counter[str], target: Counter[str]
) -> dict[str, float]:
    """P@1 by each score, of the words of a half that have a translation among the candidates."""
    right: dict[str, set[str]] = {}
    for word, translation in dictionary.entries:
        if word in source and translation in target and HALVES[crc32(word.encode()) % 2] == half:
            right.setdefault(word, set()).add(translation)
    listed, candidates = (list(by_frequency(counts)) for counts in (source, target))
    vectors = encoder.word_vectors(listed, dictionary.source)
    others = encoder.word_vectors(candidates, dictionary.target)
    hubness = crowds(others, vectors)
    place = {word: row for row, word in enumerate(listed)}
    cosines = vectors[[place[word] for word in right]] @ others.T
    scores = {"cosine": cosines, "csls": csls_scores(cosines, np.zeros(1), hubness)}
    rarity = np.abs(shares(source, right)[:, None] - shares(target, candidates))
    figures: dict[str, float] = {"words": len(right), "of": len(candidates)}
    for name, values in scores.items():
        for weight in WEIGHTS:
            best = (values - np.float32(weight) * rarity).argmax(axis=1)
            hits = [candidates[row] in meant for row, meant in zip(best, right.values(), strict=True)]
            figures[f"{name} {weight}"] = round(100 * float(np.mean(hits)), 1)
    return figures


def crowds(rows: Vectors, queries: Vectors) -> Vectors:
    """(n,) the mean cosine of each row with its nearest queries."""
    count = min(CSLS_NEIGHBOURS, len(queries))
    nearest, _ = faiss.knn(rows, queries, count, metric=faiss.METRIC_INNER_PRODUCT)
    means: Vectors = nearest.mean(axis=1)
    return means


def shares(counts: Counter[str], asked: Sequence[str] | Mapping[str, object]) -> Vectors:
    """(n,) log of how often words occur, of all."""
    occurrences = np.array([counts[word] for word in asked], np.float32)
    logs: Vectors = np.log(occurrences / sum(counts.values()))
    return logs


if __name__ == "__main__":
    main()
