"""`passepartout train NAME --smoke`: a recipe's whole path on pictures that are drawn here (run.py).

Tests train on the same drawings (drawings.py) and the same small models with random weights (tiny_models.py).
"""
