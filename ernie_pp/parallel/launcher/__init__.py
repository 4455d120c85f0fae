"""The parent of a run of many processes on this machine: no Paddle, no settings, plain processes."""
