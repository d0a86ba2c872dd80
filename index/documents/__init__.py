"""Documents: files with texts to translate, one format a file, and how the translation memory fills them."""
