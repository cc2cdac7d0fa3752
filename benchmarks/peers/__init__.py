"""The gradients of tangentc beside those of its peers, and beside an expert's NumPy."""
