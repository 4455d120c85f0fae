"""Engines: what trains and computes a stack. `engine` says what all of them offer, `single` is one process."""
