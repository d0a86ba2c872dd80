"""What several papers use and no shipped recipe does.

Inputs of batches, pictures that languages do not share, tuned backbones, learned heads, batches in chunks,
and mining without probabilities. It is no paper: it has no recipes and no claims.
"""
