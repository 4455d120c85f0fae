"""Checkpoints as files: written together by all ranks, whole or not at all, and read without trusting them.

Import from the modules: `save` writes, `choose` finds the newest whole one, `saved` opens and reads one, `manifest`
says what each holds, `names` what its files are called. No Paddle here.
"""
