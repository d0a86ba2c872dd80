"""From vectors or answers to per cent: recall; tables by pair of languages."""
