"""Corpus formats, a reader and writer each; registry.py has them by name and extension."""
