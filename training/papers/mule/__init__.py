"""MULE (Kim et al. 2020): word vectors and a layer for each language, then everything shared."""

import training.papers.suppliers  # noqa: F401 (registers its own)
from training.papers.mule import language_adversary, top_violations, universal

__all__ = ["language_adversary", "top_violations", "universal"]
