"""Functions that make constants, whatever they are given."""

import numpy as np

from tangentc import runtime
from tangentc.core import ops
from tangentc.ops.table import existing
from tangentc.rules.registry import zero_gradient

zero_gradient(
    *existing("zeros", "ones", "empty", "eye", "identity", "zeros_like", "ones_like", "empty_like"),
    *existing("indices", "tri", "iscomplex", "isreal", "finfo", "iinfo", "dtype"),
    *(runtime.units, runtime.steps_without_kinks, runtime.passing, runtime.passed),
    *ops.SEARCHES,
)
del np
