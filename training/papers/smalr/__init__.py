"""SMALR (Burns et al. 2020), which builds on MULE: own vectors for frequent words only, masked words."""

import training.papers.suppliers  # noqa: F401 (registers its own)
from training.papers.smalr import hybrid, masked_cross_language

__all__ = ["hybrid", "masked_cross_language"]
