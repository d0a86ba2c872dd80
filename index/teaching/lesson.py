"""Lesson: learns a language's subwords from material, and measures it on lines that were held out."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from index.encoder.taught import BEGIN, END, TaughtLanguage, spelled, subwords
from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.teaching.material import Material
from index.teaching.ridge import ridge
from index.text.pre_tokens import Integers

PENALTY = 0.3
LEAST_COUNT = 2  # texts that a part of a word must be in to be learned; whole words need one
BASES = (0.0, 0.5, 1.0)  # weights of the encoder's own vectors that are tried
PARTS = 10  # of the topics one is held out to measure, another to choose by


@dataclass(frozen=True)
class Recall:
    """In how many of 100 of `lines` the right one of `candidates` is found first, and among ten."""

    r1: float
    r10: float
    lines: int
    candidates: int

    @classmethod
    def of(cls, places: Integers, candidates: int) -> "Recall":
        """From how many candidates are before the right one, line by line; there is a line."""
        first, ten = (100 * float((places < k).mean()) for k in (1, 10))
        return cls(first, ten, len(places), candidates)

    def __str__(self) -> str:
        return f"R@1 {self.r1:.1f}, R@10 {self.r10:.1f}"

    @property
    def chance(self) -> tuple[float, float]:
        """The same for answers drawn by lot."""
        return 100 / self.candidates, 100 * min(1.0, 10 / self.candidates)


def held_out(material: Material, part: int) -> tuple[Material, Material]:
    """Its lines but those about the topics of a part, by the hash of their names, and those."""
    names = material.topics.names
    of_part = np.array([_part(names[row]) == part for row in material.rows.tolist()], bool)
    return material.take(np.flatnonzero(~of_part)), material.take(np.flatnonzero(of_part))


def learn(encoder: TextEncoder, materials: Sequence[Material], base: float) -> TaughtLanguage:
    """Subwords whose sums, with `base` times what the encoder gives, are near the vectors of the texts."""
    texts = [text for material in materials for text in material.texts]
    targets = np.concatenate([material.vectors for material in materials])
    if base:
        targets = targets - np.float32(base) * encoder.encode(texts)
    weights = np.concatenate([np.full(len(material), material.weight) for material in materials])
    parts = _vocabulary(texts)
    untrained = TaughtLanguage(parts, np.zeros((len(parts), 0), np.float16), base)
    rows = ridge(untrained.tokens(texts), len(parts), targets, weights.astype(np.float32), PENALTY)
    return TaughtLanguage(parts, rows.astype(np.float16), base)


def choose_base(encoder: TextEncoder, materials: Sequence[Material], part: int) -> float:
    """The one of BASES by which the lines of a part, held out, find their own best."""
    learned, asked = zip(*(held_out(material, part) for material in materials), strict=True)
    if not all(map(len, learned)) or not any(map(len, asked)):
        return BASES[0]
    scores = []
    for base in BASES:
        taught = learn(encoder, learned, base)
        places = np.concatenate([places_of(encoder, taught, lines) for lines in asked])
        scores.append(float((1 / (1 + places)).mean()))
    return BASES[int(np.argmax(scores))]


def places_of(encoder: TextEncoder, taught: TaughtLanguage, asked: Material) -> Integers:
    """(n,) for each line asked, how many topics are nearer to it than its own."""
    vectors = taught(asked.texts, encoder.encode(asked.texts))
    return places_among(vectors, asked.topics.vectors, asked.rows)


def places_among(questions: Vectors, candidates: Vectors, rows: Integers) -> Integers:
    """(n,) for each question (n, d), how many candidates are nearer to it than its own, that of its row."""
    cosines = questions @ candidates.T
    own = np.take_along_axis(cosines, rows[:, None], axis=1)
    places: Integers = (cosines > own).sum(axis=1)
    return places


def _part(topic: str) -> int:
    return int(hashlib.sha256(topic.encode()).hexdigest(), 16) % PARTS


def _vocabulary(texts: Sequence[str]) -> tuple[str, ...]:
    """The subwords to learn, sorted."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({part for word in spelled(text) for part in subwords(word)})
    kept = (part for part, count in counts.items() if count >= LEAST_COUNT or _is_word(part))
    return tuple(sorted(kept))


def _is_word(part: str) -> bool:
    return part.startswith(BEGIN) and part.endswith(END)
