"""The words of an index: vocabulary, phrases, contexts, and rotations that align languages (Procrustes)."""
