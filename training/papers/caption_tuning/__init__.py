"""Krasner et al. 2025: a pretrained encoder tuned on captions, whose languages take turns over pictures."""
