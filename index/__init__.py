"""Text to vectors to nearest neighbours: the ground floor of the house. Never imports torch."""
