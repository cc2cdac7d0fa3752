"""What functions of NumPy and SciPy compute, written with others that have rules.

Where a derivative flows through a call that no rule covers, the body stands in its place.  Parameters are those
of the function itself; what depends on ranks and options alone is worked out while compiling.
"""

from __future__ import annotations

import importlib

from tangentc.rules.registry import static

FAMILIES = ("elementwise", "reductions", "sequences", "shapes", "products", "procedures", "random", "polynomials")


def load() -> None:
    """Register the definitions of NumPy's functions."""
    for family in FAMILIES:
        importlib.import_module(f"{__name__}.{family}")


@static
def axes_in(*bounds):
    return tuple(range(*bounds))
