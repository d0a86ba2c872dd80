"""Recipes: what a TOML file may say, and the shipped ones; each paper has its own in its room (`files`)."""
