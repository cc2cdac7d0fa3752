"""Passes that make a program shorter without changing what it computes."""
