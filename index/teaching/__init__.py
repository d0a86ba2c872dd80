"""Teaches an encoder one more language from a few hundred lines, without torch and its training run."""
