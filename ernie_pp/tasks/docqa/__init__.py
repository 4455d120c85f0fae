"""Questions to documents of any length: a span of the text, yes or no, or no answer."""
