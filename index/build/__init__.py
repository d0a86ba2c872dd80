"""The batch job that makes an index version from corpora and an encoder bundle (build_index.py), changes to
an index (changes.py), and maintenance. Each stage of a build has a file; a killed build can be resumed."""
