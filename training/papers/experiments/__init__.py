"""Experiments with frozen encoders: sentence correspondence, clusters, generation, inference; and retrieval
before and after a language is added. Each file's `figures`, `facts` and `blocks` make up its report."""
