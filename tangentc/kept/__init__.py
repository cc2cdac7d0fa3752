"""Emitted text that other processes find again: a cache on disk."""
