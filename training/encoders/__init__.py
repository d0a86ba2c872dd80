"""Text and vision encoders that a recipe can name."""
