"""The derivatives of NumPy's functions, as formulas."""
