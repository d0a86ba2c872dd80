"""Faults on purpose: `make chaos` (docs/reliability.md)."""
