"""The papers: a room each, with its objectives, encoders, recipes and claims; `study` puts these to the test.

A room is a package. Importing its files registers objectives and encoders; its recipes are in its folder
`recipes` (training.recipes.files finds both). A new paper needs a room and nothing else; what several papers
use is in `shared`.
"""
