"""The HTTP service over an index."""
