"""Whether a pattern holds at a point: a derivative that was put together from few products gives one more of them."""

from __future__ import annotations

import numpy as np

from tangentc.errors import BadArgument, NotDifferentiable, TangentcError
from tangentc.sparse.colouring import Sparse, Vector
from tangentc.sparse.linear import Linear

LOOKED_AT = 32  # rows whose product differs, those that differ most
TIGHT, LOOSE = 0.75, 0.25  # powers of the rounding error: where a doubt costs time, and where it is a refusal


def failing(linear: Linear, made: Sparse, random: np.random.Generator, power: float = TIGHT) -> Vector:
    """The rows of a derivative whose product with a random vector is not that of a push-forward, the worst first.

    The two agree to rounding, relative to ``|J| @ |v|``, or neither is finite.  Where there is no forward mode, these
    are columns, and the product is that of a pull-back.
    """
    ask, matrix = (linear.push, made) if linear.has_forward or linear.is_symmetric else (linear.pull, made.T)
    size = matrix.shape[1]
    v = random.uniform(0.5, 1.5, size) * random.choice([-1.0, 1.0], size)
    v = v.astype(linear.precision.dtype).astype(float)  # which neither end rounds
    with np.errstate(all="ignore"):
        wanted, got = matrix @ v, ask(v)
        off, allowed = abs(wanted - got), float(linear.precision.eps) ** power * (abs(matrix) @ abs(v))
        bad = np.flatnonzero(~(off <= allowed) & (np.isfinite(wanted) | np.isfinite(got)))
        return bad[np.argsort(-off[bad] / np.maximum(allowed[bad], 1e-300))]


def refuse_missing(linear: Linear, made: Sparse, random: np.random.Generator, is_given: bool) -> None:
    """Refuse a derivative whose pattern lacks an entry.

    A row whose product differs may do so by rounding alone, where large terms cancel, so that it is asked for itself.
    """
    rows = failing(linear, made, random)
    if rows.size and not linear.has_both:
        for row in failing(linear, made, random, LOOSE):
            raise _lacking(linear, "an entry", f"{'row' if linear.has_forward else 'column'} {row}", is_given)
        return
    for row in rows[:LOOKED_AT]:
        entries = np.nan_to_num(linear.pull(np.eye(1, made.shape[0], row)[0]))
        outside = abs(entries) > linear.precision.eps * np.max(abs(entries), initial=0.0)
        outside[made.indices[made.indptr[row] : made.indptr[row + 1]]] = False
        if outside.any():
            column = int(np.flatnonzero(outside)[0])
            raise _lacking(linear, f"the entry in column {column}, {entries[column]:.6g},", f"row {row}", is_given)


def _lacking(linear: Linear, what: str, where: str, is_given: bool) -> TangentcError:
    if is_given:
        return BadArgument(
            f"the pattern lacks {what} of {where} of the derivative of {linear.name}",
            why="entries that share a product would be taken for each other, and be wrong",
            way_out="add it to the pattern, or leave the pattern out: it is found then",
        )
    return NotDifferentiable(
        f"a NaN did not show {what} of {where} of the derivative of {linear.name}",
        why="a rule takes NaN for something else, or the function does not compute the same each time",
        way_out="give the pattern",
    )
