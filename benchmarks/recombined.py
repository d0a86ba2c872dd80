"""Many different captions out of few: the beginning of one joined to the end of another, and their vectors.

A caption is cut before one of its later prepositions (else in its middle), so that what comes out still reads
like a caption and lies among them, as a corpus of captions a hundred times the size would.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from index.arrays import Vectors
from index.encoder.bundle import open_bundle
from index.encoder.text_encoder import TextEncoder
from index.progress import Progress

CHUNK = 8192
CUT_PATTERNS = {
    "en": {"in", "on", "with", "at", "near", "by", "while", "and", "as", "of", "from"},
    "de": {"in", "im", "auf", "mit", "an", "am", "vor", "bei", "und", "neben", "aus", "während"},
}


def halves(caption: str, language: str) -> tuple[str, str]:
    """A caption as its beginning and its end; neither is empty where it has two words."""
    words = caption.split()
    cuts = [
        place for place in range(2, len(words) - 1) if words[place].lower() in CUT_PATTERNS.get(language, ())
    ]
    place = cuts[len(cuts) // 2] if cuts else len(words) // 2
    return " ".join(words[:place]), " ".join(words[place:])


def recombined(captions: Sequence[str], count: int, language: str, seed: int = 0) -> Iterator[str]:
    """`count` captions, no pair of halves twice in a row of draws; the same for the same seed."""
    random = np.random.default_rng(seed)
    parts = [halves(caption, language) for caption in captions]
    for start in range(0, count, CHUNK):
        size = min(CHUNK, count - start)
        for first, second in random.integers(len(parts), size=(size, 2)).tolist():
            yield f"{parts[first][0]} {parts[second][1]}"


def encoded(bundle: Path, texts: Sequence[str], threads: int = 1) -> Vectors:
    """Texts -> (n, d) unit vectors."""
    encoder = TextEncoder(open_bundle(bundle), threads=threads)
    vectors = np.empty((len(texts), encoder.dimension), np.float32)
    with Progress(len(texts), unit="sentences", label="encode") as bar:
        for start in range(0, len(texts), CHUNK):
            part = encoder.encode(texts[start : start + CHUNK])
            vectors[start : start + CHUNK] = part
            bar.advance(len(part))
    return vectors
