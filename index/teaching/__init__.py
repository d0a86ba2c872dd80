"""Teaches an encoder one more language from a few hundred lines, without torch or its training run."""
