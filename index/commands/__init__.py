"""The commands `passepartout index ...` and `translate-file`, which import what they need when they run."""
