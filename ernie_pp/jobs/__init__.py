"""What each command does: one file a verb, and the steps of a training run."""
