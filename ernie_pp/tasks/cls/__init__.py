"""Text classification: one label, several labels, pairs of texts."""
