"""Reports of a suite (report.py), and their figures in a bundle's card (card.py).

A report is a list of blocks (document.py), written as Markdown, beside JSON with every figure.
"""
