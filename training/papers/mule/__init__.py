"""MULE (Kim et al. 2020): word vectors and a layer for each language, then everything shared."""
