"""From a Python function to core form."""
