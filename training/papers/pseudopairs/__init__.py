"""Kádár et al. 2019 (Bootstrapping Disjoint Datasets): captions of other pictures taken for translations.

Its max-violation hinge and its GRU are here; its transfer of captions is the table [transfer] of a recipe.
"""

from training.papers.pseudopairs import gru, hinge

__all__ = ["gru", "hinge"]
