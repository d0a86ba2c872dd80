"""The routes, one file for each protocol; what they share is in dependencies and validation."""
