"""Probes: texts written for this project with which a build queries an index to calibrate its confidence.

Scenes are from corpora/everyday, whose line i means the same in every language; texts of other kinds, such as
headlines or proverbs, are from corpora/elsewhere.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import index
from index.answers.sentence_index import SentenceIndex
from index.arrays import Numbers, Vectors
from index.encoder.text_encoder import TextEncoder
from index.text.normalisation import clean
from index.text.pre_tokens import Tokens
from index.vectors.vector_index import CANDIDATE_COUNT

# Beside the packages, both in a checkout and where they are installed.
PROBE_FOLDER = Path(index.__file__).parents[1] / "corpora"
SAYINGS = slice(928, 1254)  # lines of corpora/everyday that people say; all others are scenes
EXCHANGED, LEFT_OUT = 0.15, 0.2  # shares of the words of a reworded text
Pair = tuple[str, str]  # the languages of questions and of answers
HELD_OUT = 3  # every third line of corpora/elsewhere is kept for measuring


@dataclass(frozen=True)
class Probes:
    """n texts of one language, in random order, which were asked of an index in another.

    `lines`: their numbers among all that could be drawn. `tokens` of each, unit `vectors` (n, d), and the
    rows nearest to each with their cosines, (n, CANDIDATE_COUNT).
    """

    lines: Numbers
    texts: Sequence[str]
    tokens: Tokens
    vectors: Vectors
    cosines: Vectors
    rows: Numbers

    def __len__(self) -> int:
        return len(self.texts)


def asked(
    indexes: Mapping[str, SentenceIndex],
    pairs: Sequence[Pair],
    texts_in: Callable[[str], Sequence[str]],
    count: int,
    encoder: TextEncoder,
) -> dict[Pair, Probes]:
    """Ask `count` texts in all, equally many of each pair of languages, of the index of the second language.

    They are drawn from `texts_in` the first language; the codes of the pair are the seed.
    """
    probes = {}
    for source, target in pairs:
        every, seed = texts_in(source), list(f"{source}-{target}".encode())
        lines = np.random.default_rng(seed).permutation(len(every))[: -(-count // len(pairs))]
        texts, tokens, vectors = encoded([every[line] for line in lines.tolist()], encoder, source)
        found = indexes[target].vectors.search(vectors, CANDIDATE_COUNT, batched=True)
        probes[source, target] = Probes(lines, texts, tokens, vectors, *found)
    return probes


def encoded(texts: Sequence[str], encoder: TextEncoder, language: str) -> tuple[list[str], Tokens, Vectors]:
    """Clean, tokenise and encode texts of a language."""
    cleaned = list(map(clean, texts))
    tokens = Tokens.of(encoder.tokenizer.encode(cleaned))
    vectors = encoder.as_taught(language, cleaned, encoder.encode_tokens(tokens))
    return cleaned, tokens.without(encoder.tokenizer.special), vectors


def everyday(language: str) -> list[str]:
    """The lines of corpora/everyday in a language, line i the same in each; empty where there are none."""
    path = PROBE_FOLDER / "everyday" / f"{language}.txt"
    return path.read_text("utf-8").splitlines() if path.is_file() else []


def first_scenes(language: str) -> list[str]:
    """The first scenes in a language, line i the same in each; empty for a language without scenes."""
    return everyday(language)[: SAYINGS.start]


def dictionary() -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield source, target and entries, (word, translation), of each file of corpora/dictionary."""
    for path in sorted((PROBE_FOLDER / "dictionary").glob("*.tsv")):
        source, _, target = path.stem.partition("-")
        lines = path.read_text("utf-8").splitlines()
        yield source, target, [(word, other) for word, _, other in (line.partition("\t") for line in lines)]


def shortened(texts: Sequence[str]) -> list[str]:
    """Each text without one of its words, or without a letter if it has no spaces; always the same one.

    The encoder may have learned from these very texts, and would be surer of them than of other text.
    """
    random = np.random.default_rng(0)
    short = []
    for text in texts:
        units = _units(text)
        if len(units) > 1:
            del units[int(random.integers(len(units)))]
        short.append((" " if " " in text else "").join(units))
    return short


def reworded(texts: Sequence[str], seed: int = 0) -> list[str]:
    """Each text with some of its words left out and some exchanged for words of the other texts.

    So many that it stays recognisable; letters in place of words where there are no spaces.
    """
    random, pool = np.random.default_rng(seed), [_units(text) for text in texts]
    others = [unit for units in pool for unit in units] or [""]
    changed = []
    for text, units in zip(texts, pool, strict=True):
        fates = random.random(len(units))
        strange = random.integers(len(others), size=len(units)).tolist()
        kept = [
            others[other] if fate < EXCHANGED else unit
            for unit, fate, other in zip(units, fates.tolist(), strange, strict=True)
            if not EXCHANGED <= fate < EXCHANGED + LEFT_OUT
        ]
        changed.append((" " if " " in text else "").join(kept or units))
    return changed


def _units(text: str) -> list[str]:
    return text.split(" ") if " " in text else list(text)


def other_kinds(language: str, *, held_out: bool = False) -> list[tuple[str, str]]:
    """The (kind, text) lines of corpora/elsewhere in a language: those for fitting, or those `held_out`."""
    path = PROBE_FOLDER / "elsewhere" / f"{language}.tsv"
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    chosen = [line for row, line in enumerate(lines) if (row % HELD_OUT == HELD_OUT - 1) == held_out]
    return [(kind, text) for kind, _, text in (line.partition("\t") for line in chosen)]
