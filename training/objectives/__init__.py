"""The losses that the shipped recipes use (`losses`); a recipe names them in its `[objectives.NAME]` tables.

An objective names what it reads of a step, builds the modules that it trains besides the encoders, and
computes a loss (`base`). Those of one paper alone are in its room (training/papers).
"""
