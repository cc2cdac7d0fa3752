"""Which kernels may round otherwise than their text says: add in another order, and multiply and add at once.

Adjoints may, whose bits are promised to nobody; what a function itself computes keeps NumPy's bits.  Where a number
that has been computed decides something, as in ``a * b - c > 0`` or ``np.floor(a * b)``, a rounding error would choose
another branch than the function took, and of ``np.sqrt(a * b - c)`` it would make NaN where the difference is zero:
such a kernel is left as it is written.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, Statement, Store
from tangentc.core.types import Scalar, Type
from tangentc.core.walk import definitions, statements
from tangentc.ops.table import known_of

READS = {operator.getitem, ops.identity, ops.pop}


def may_round(body: Block, types: Types) -> bool:
    """Whether a kernel of these statements may round otherwise."""
    return all(is_of_adjoint(s, types) for s in statements(body)) and not decides(body, types)


def is_of_adjoint(s: Statement, types: Types) -> bool:
    """Whether a statement computes no number for the function itself."""
    computes = isinstance(s, Store) or isinstance(s, Assign) and _is_float(types.of(s.target))
    return not computes or s.span.sweep in ("adjoint", "recalled")


def _is_float(t: Type) -> bool:
    return getattr(t, "dtype", "") in ("float64", "float32") and isinstance(t, Scalar)


def decides(body: Block, types: Types) -> bool:
    """Whether a number that is computed here decides something: an error in it is not small in what it gives."""
    made = definitions(body)

    def is_computed(a: Atom) -> bool:
        s = made.get(a) if isinstance(a, str) else None
        return _is_float(types.of(a)) and s is not None and not (isinstance(s, Assign) and s.op in READS)

    def jumps(s: Assign) -> bool:
        rule = known_of(s.op).rule
        ends = getattr(rule, "singular", False) and s.op is not operator.truediv  # NaN beyond the end of its domain
        return ends or getattr(rule, "kind", "") == "zero" or s.op in (np.copysign, math.copysign)

    return any(isinstance(s, Assign) and jumps(s) and any(map(is_computed, s.atoms)) for s in statements(body))
