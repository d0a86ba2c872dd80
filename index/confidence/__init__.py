"""How sure an answer is (calibration.py), and how good the answers of an index are by pair (quality.py)."""
