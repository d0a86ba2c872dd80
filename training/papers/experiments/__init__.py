"""The experiments of globetrotter's appendix: a new language, sentence halves, clusters, generation."""
