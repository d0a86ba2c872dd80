"""MULE (Kim et al. 2020): word vectors and a layer for each language, then everything shared."""

from training.papers.mule import language_adversary, top_violations, universal

__all__ = ["language_adversary", "top_violations", "universal"]
