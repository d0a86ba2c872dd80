"""What several papers use and no shipped recipe does: inputs of batches, tuned backbones, plain mining.

It is no paper: it has no recipes and no claims. As in a room, importing it registers what it has.
"""

from training.papers.shared import augmented_pictures, mutual, suppliers

__all__ = ["augmented_pictures", "mutual", "suppliers"]
