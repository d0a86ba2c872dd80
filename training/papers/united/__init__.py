"""What of the papers helps together: the recipes `best` and `united`, on five languages and on eleven."""

from training.papers.united import halves, verified_bag

__all__ = ["halves", "verified_bag"]
