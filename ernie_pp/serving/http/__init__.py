"""The HTTP server over worker processes."""
