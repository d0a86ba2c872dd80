"""One loop, whatever is trained.

`prepare` turns a recipe and a data folder into a source of batches (`source`), `training_loop` trains on it,
`mining` finds pairs of sentences, `engine` computes the gradient of a step, and `run` is the folder that
results.
"""
