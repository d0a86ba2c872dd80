"""Imports sentence encoders made elsewhere as bundles: reads their files (source.py), adapts their graph
(graph.py), writes the bundle (bundle.py); USE multilingual comes from a package (use.py) and has a name
(named.py)."""
