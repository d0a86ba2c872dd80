"""The commands `passepartout encode` and `index ...`, which import what they need when they run."""
