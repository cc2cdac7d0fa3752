"""The core form: a small structured program representation that always prints as Python."""
