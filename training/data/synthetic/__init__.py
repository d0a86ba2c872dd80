"""Test data drawn by code: scenes, captions in five languages, pictograms, and small random encoders."""
