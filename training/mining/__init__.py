"""Pairs of sentences that are found, not given: what an encoder that began with pictures learns from next.

Before some epochs a round of mining (`rounds`) embeds all sentences with the encoder as it is.
`probable_pairs` takes sentences of two languages that are each other's nearest and says how probable it is
that they are translations; where words count, `words` learns from the likeliest pairs which words translate
each other, and sentences are compared by these, too. Without probabilities, `mutual`
keeps a share of the pairs of nearest sentences.
"""
