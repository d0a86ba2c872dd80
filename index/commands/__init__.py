"""The commands `passepartout bundle encode` and `index ...`, which import what they need when they run."""
