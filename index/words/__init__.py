"""The words of an index: vocabulary, phrases, and vectors from contexts."""
