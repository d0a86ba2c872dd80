"""How sure an answer is (calibration.py), whether its text is of a kind that the index holds (domain.py), how
good the answers of an index are by pair (quality.py)."""

# From here on an answer is shown as a translation, by the page, the commands and every protocol
# (docs/decisions/0084).
MIN_CONFIDENCE = 0.05
