"""The rules and definitions of SciPy's functions, registered when a program has imported them."""
