"""The papers: a room each, with its objectives, encoders, recipes and claims; `study` puts these to the test.

A room is a package. Importing it registers its objectives and encoders; its recipes are in its folder
`recipes` (training.recipes.rooms finds both). A new paper needs a room and nothing else;
what several need is in `shared`.
"""
