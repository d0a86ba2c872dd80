"""`passepartout reproduce`: trains and measures a paper's systems within a budget of time.

`globetrotter` and `appendix` list the steps, `study` chooses among them, `systems` trains and measures a
recipe by the real commands, `baselines` have closed-form solutions.
"""
