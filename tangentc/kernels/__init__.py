"""Kernels: loops of emitted code as explicit loops over entries, which Numba compiles."""
