"""Experiments on frozen encoders: correspondence of sentence halves, clusters, generation, inference; and a
language added to a finished run, with what that cost. Each file's `facts` and `blocks` are its report."""
