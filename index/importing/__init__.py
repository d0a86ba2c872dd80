"""Sentence encoders made elsewhere become encoder bundles: what their files say (source.py), their graph
(graph.py), the bundle (bundle.py); USE multilingual by its package (use.py) and by name (named.py)."""
