"""What several papers use and no shipped recipe does.

Inputs of batches, and the language of a sentence. It is no paper: it has no recipes and no claims.
"""
