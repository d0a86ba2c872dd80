"""What `passepartout evaluate` measures, by name in evaluation/cli.py; sets.py reads its text."""
