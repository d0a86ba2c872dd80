"""What `passepartout evaluate` measures, by name in registry.py; sets.py reads text, truth.py word pairs."""
