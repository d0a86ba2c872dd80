"""SMALR (Burns et al. 2020), which builds on MULE: own vectors for frequent words only, masked words."""
