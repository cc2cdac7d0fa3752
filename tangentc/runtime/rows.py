"""Sums of rows for code that Numba compiles: in NumPy's order, or in the one that is quickest."""

import numba

LANES, PART = 8, 128  # sums that run beside one another, and the entries that are added up by them at once
QUICK_PART = 2048


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def row_sum(x):
    """The sum of a vector, with the bits that `np.sum` gives.

    Parameters: ``x``, an array of floating-point numbers of shape ``(n,)``.  Returns a number of its dtype.  Halves are
    added up apart until there are few entries, and those by eight sums at once: the error grows with the logarithm of
    ``n`` (Higham, The accuracy of floating point summation, SIAM J. Sci. Comput. 14, 1993; NumPy's ``pairwise_sum``).

    >>> import numpy as np
    >>> float(row_sum(np.ones(1000)))
    1000.0
    """
    return _lanes(x) if x.size <= PART else _halves(x)


@numba.njit(error_model="numpy", fastmath={"reassoc", "nsz"})
def quick_row_sum(x):
    """The sum of a vector, for adjoints, whose order of additions is left to the compiler.

    Parameters and result are those of `row_sum`; parts of few entries are added up by SIMD instructions, so that it
    takes about a third of the time, and the error grows with the number of parts.

    >>> import numpy as np
    >>> float(quick_row_sum(np.ones(1000)))
    1000.0
    """
    total = x.dtype.type(0)
    for start in range(0, x.size, QUICK_PART):
        part = x.dtype.type(0)
        for k in range(start, min(start + QUICK_PART, x.size)):
            part += x[k]
        total += part
    return total


@numba.njit(error_model="numpy", fastmath=False)
def _halves(x):
    if x.size <= PART:
        return _lanes(x)
    half = x.size // 2
    half -= half % LANES
    return _halves(x[:half]) + _halves(x[half:])


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def _lanes(x):
    whole = x.size - x.size % LANES
    if not whole:
        total = x.dtype.type(0)
        for k in range(x.size):
            total += x[k]
        return total
    a, b, c, d, e, f, g, h = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
    for k in range(LANES, whole, LANES):
        a, b, c, d = a + x[k], b + x[k + 1], c + x[k + 2], d + x[k + 3]
        e, f, g, h = e + x[k + 4], f + x[k + 5], g + x[k + 6], h + x[k + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for k in range(whole, x.size):
        total += x[k]
    return total
