"""Recipes: what a TOML file may say, and the shipped ones.

main/ has the recommended recipes, papers/ a folder per paper, ablations/ variants that differ in one part.
"""
