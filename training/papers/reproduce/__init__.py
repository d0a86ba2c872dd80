"""`passepartout reproduce`: a paper's systems, trained and measured within a budget of time.

`globetrotter` and `appendix` list the steps, `study` chooses among them, `systems` trains and measures a
recipe by the real commands, `baselines` need no training.
"""
