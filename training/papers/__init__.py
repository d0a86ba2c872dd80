"""The papers: a room each, with its objectives, encoders, recipes and experiments; `cli` has the commands.

A room is a package. Importing it registers its objectives and encoders; its recipes are in its folder
`recipes` (training.recipes.rooms finds both). A new paper needs a room and nothing else.
"""
