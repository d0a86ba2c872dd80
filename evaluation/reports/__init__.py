"""Reports of a suite (report.py), of many runs (experiments.py, summary.py) and in a bundle's card (card.py).

A report is a list of blocks (document.py), written as Markdown or HTML; figures.py draws, with matplotlib.
"""
