"""Sparse Jacobians and Hessians: patterns, colourings, and derivatives along few directions."""
