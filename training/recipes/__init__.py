"""Recipes: what a TOML file may say, and the shipped ones.

main/ has what the documents recommend, papers/ a folder a paper, ablations/ those less or more one part.
"""
