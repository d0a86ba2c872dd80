"""The encoder bundle on disk (bundle.py) and what reads it: texts to tokens (tokenizer.py) and unit vectors
(text_encoder.py); the pictograms near a text (pictograms.py)."""
