"""Text to its translations in an index: `Translator` is the door.

Neighbours, found by a `VectorIndex` of index/vectors/, are ranked by CSLS (ranking.py) for sentences
(sentence_index.py) and words (word_index.py).
"""
