"""Jacobians and Hessians inside a function that is differentiated: the loops over columns or rows that they are.

Of a function of numbers and arrays, by one of them.
"""

from __future__ import annotations

import numpy as np

from tangentc import runtime
from tangentc.core.inside import grad, jvp, vjp


def jacfwd(f, wrt, *args):
    before, x, after = args[:wrt], args[wrt], args[wrt + 1 :]

    def of_one(moved):
        return f(*before, moved, *after)

    columns = [jvp(of_one, (x,), (unit,))[1] for unit in runtime.units(x)]
    return np.reshape(np.stack(columns, axis=-1), np.shape(columns[0]) + np.shape(x))


def jacrev(f, wrt, *args):
    before, x, after = args[:wrt], args[wrt], args[wrt + 1 :]

    def of_one(moved):
        return f(*before, moved, *after)

    value, pullback = vjp(of_one, x)
    runtime.units(x)
    if np.iscomplexobj(value) and not np.iscomplexobj(x):  # a seed of 1 asks for the real part
        rows = [pullback(unit)[0] + 1j * pullback(-1j * unit)[0] for unit in runtime.units(value)]
    else:
        rows = [pullback(unit)[0] for unit in runtime.units(value)]
    return np.reshape(np.stack(rows), np.shape(value) + np.shape(x))


def hessian(f, wrt, *args):
    before, x, after = args[:wrt], args[wrt], args[wrt + 1 :]

    def of_one(moved):
        return f(*before, moved, *after)

    columns = [jvp(grad(of_one), (x,), (unit,))[1] for unit in runtime.units(x)]
    return np.reshape(np.stack(columns, axis=-1), np.shape(x) + np.shape(x))


INSIDE = {"jacfwd": jacfwd, "jacrev": jacrev, "hessian": hessian}
