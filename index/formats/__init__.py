"""Corpus formats, one in each file; registry.py lists them by name and extension."""
