"""Krasner et al. 2025: a pretrained encoder tuned on captions, whose languages take turns over pictures."""

from training.papers.caption_tuning import objective, pretrained

__all__ = ["objective", "pretrained"]
