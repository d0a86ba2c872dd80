"""The batch job: corpora and an encoder bundle to a published version (build_index.py), changes to one
(changes.py), maintenance. A stage a file; what a killed build has made, the next goes on from."""
