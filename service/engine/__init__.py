"""From queries to answers: batching, cache, and the version of the index that is served."""
