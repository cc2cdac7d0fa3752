"""Runs of statements on arrays of the device as kernels in CUDA C, which CuPy compiles."""
