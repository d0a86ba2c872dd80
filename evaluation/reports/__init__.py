"""Reports of a suite, Markdown beside JSON with every figure (report.py), and in a card (card.py)."""
