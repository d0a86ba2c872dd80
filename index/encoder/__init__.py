"""The encoder bundle on disk (bundle.py) and what uses it: texts to tokens (tokenizer.py) and unit vectors
(text_encoder.py), languages taught afterwards (taught.py), the pictograms near a text (pictures.py)."""
