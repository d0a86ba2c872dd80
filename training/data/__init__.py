"""Captions, pictures and sentences of a recipe, and the batches made of them.

`folder` opens the data folder, `training_data` is what a run learns from, `auxiliary` names what a batch may
carry beside captions and pictures.
"""
