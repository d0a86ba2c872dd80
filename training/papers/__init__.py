"""The papers' experiments, besides their recipes (training/recipes/papers); `cli` has the commands.

experiments/ has those of Globetrotter's appendix and of Krasner et al. on a finished run; reproduce/ trains
and measures all systems of a paper within a budget of time.
"""
