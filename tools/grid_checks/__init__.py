"""The sections of tools/check_grid.py."""
