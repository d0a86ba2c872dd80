"""Corpus formats: one reader a module."""
