"""From vectors or answers to per cent: recall, calibration error; tables by pair of languages."""
