"""Globetrotter (Surís, Epstein and Vondrick 2022, arXiv 2012.04631): translation by way of similar pictures.

Here are the parts of its recipe that no other has (token cloze, contrast of two views, transformer), the
baselines and the ceiling of its section 5.1, and all of them as one study (`passepartout reproduce
globetrotter`). Its image-caption contrast, which the shipped recipes use, is in training/objectives.
"""
