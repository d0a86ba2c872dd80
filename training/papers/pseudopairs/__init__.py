"""Kádár et al. 2019 (Bootstrapping Disjoint Datasets): captions of other pictures taken for translations.

Its max-violation hinge, its GRU and its transfer of captions.
"""
