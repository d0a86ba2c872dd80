"""Text to its translations in an index: `Translator` is the door.

FAISS (faiss_index.py) or Milvus (milvus.py) searches vectors, as a `VectorIndex`; neighbours are ranked by
CSLS (hubness.py, ranking.py) for sentences (sentence_index.py) and words (word_index.py), and explained.
"""
