"""The user's rows: read and checked, tokenized once, and put into micro-batches."""
