"""What several papers use and no shipped recipe does: inputs of batches, tuned backbones, plain mining.

It is no paper: it has no recipes and no claims.
"""
