"""The text and vision encoders of the shipped recipes, and the model that joins them.

A text encoder declares in its settings what it can do, initialises itself from the data, and can be extended
by a language (`base`); `two_branch` joins it with the picture branch. Encoders of one paper alone are in its
room (training/papers).
"""
