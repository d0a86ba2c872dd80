"""Corpus formats, one in each file, those with tags in markup/; registry.py lists them by name."""
