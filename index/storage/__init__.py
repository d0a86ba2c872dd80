"""An index on disk: versions that never change (versions.py), what their manifests say (index_manifest.py),
checksums and atomic replacement (files.py), texts and arrays that are mapped (tables.py)."""
