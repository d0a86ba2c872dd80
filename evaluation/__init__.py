"""Measures and suites over vectors; numpy only."""
