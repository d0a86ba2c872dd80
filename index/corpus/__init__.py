"""A language's corpus: read (reader.py), cleaned, without duplicates, in groups of translations, exported."""
