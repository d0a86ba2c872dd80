"""Text and vision encoders that a recipe can name, and the model that joins them.

A text encoder says in its settings what it can do, initialises itself from the data, and grows by a language
(`base`); `two_branch` puts it beside the picture branch.
"""
