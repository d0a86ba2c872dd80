"""The confidence of an answer (calibration.py), whether a text is of a kind that the index holds (domain.py),
and the quality of an index for each pair of languages (quality.py)."""

# The least confidence with which the page, the commands and every protocol show an answer as a translation
# (docs/decisions/0084).
MIN_CONFIDENCE = 0.1
