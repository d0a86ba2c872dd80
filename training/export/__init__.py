"""A finished run becomes an encoder bundle: ONNX in 32 and 8 bits, vocabulary, confidence, model card."""
