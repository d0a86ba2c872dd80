"""Documents: files with texts to translate, each format in its own module, filled from translation memory."""
