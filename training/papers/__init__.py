"""What the papers did, beside their recipes (training/recipes/papers): the commands in `cli`.

experiments/ asks a finished run what Globetrotter's appendix and Krasner et al. ask of theirs, and adds a
language; reproduce/ trains and measures all systems of a paper within a budget of time.
"""
