"""From vectors or answers to per cent: recall, chrF, calibration error; tables by pair of languages."""
