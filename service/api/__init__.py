"""The routes, one protocol a file; what they share is in dependencies, validation and openapi."""
