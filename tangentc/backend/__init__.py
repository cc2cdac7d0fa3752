"""From core form to Python text, and from text to functions."""
