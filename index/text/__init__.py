"""Text before any model: normalisation and words, languages, their identification, pre-tokens by number."""
