"""SMALR (Burns et al. 2020), which builds on MULE: own vectors for frequent words only, masked words."""

from training.papers.smalr import hybrid, masked_cross_language

__all__ = ["hybrid", "masked_cross_language"]
