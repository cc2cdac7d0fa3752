"""Emitted code, run statement by statement: what each line makes, and the first value that is not finite."""
