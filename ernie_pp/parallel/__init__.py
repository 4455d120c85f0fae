"""Processes that train and compute one model together, and how they are started and ended.

Import from the modules: `launch` starts the ranks of a run, `join` connects them, `step` is their engine (`engine` says
what it offers), `topology` says which rank does what. Nothing is listed here: the launcher must not load Paddle.
"""
