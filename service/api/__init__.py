"""The HTTP interfaces, one protocol a file."""
