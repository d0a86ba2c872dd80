"""Contrasts: words by which two sentences say opposite things, such as open and closed, left and right."""
