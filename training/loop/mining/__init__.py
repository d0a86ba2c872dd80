"""Pairs of sentences that are found, not given.

`rounds` says when and among what; `mutual` keeps a share of each other's nearest, `probable_pairs` those that
decoys say are right. Where whole words count, `lexicon` lists them, `word_evidence` embeds sentences by them,
and `translations` compares sentences by what `alignment` learns of them.
"""
