"""A finished run becomes an encoder bundle: ONNX in few bits, vocabulary, fitted confidence, model card."""
