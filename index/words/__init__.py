"""The words of an index: vocabulary, and vectors from contexts."""
