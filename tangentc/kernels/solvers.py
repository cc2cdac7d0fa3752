"""Inverses, solutions and determinants inside of loops, as calls that Numba has: they raise what NumPy's raise.

x = np.linalg.solve(A, b)       x = np.linalg.solve(A, b), where the arrays lie in memory in one piece
"""

from __future__ import annotations

import operator

import numpy as np

from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Scalar, Tuple
from tangentc.kernels.matrices import made, operand
from tangentc.kernels.words import Words, word
from tangentc.kernels.writing import NotSaid


def handed(nests: Words, s: Assign) -> tuple[Atom, ...]:
    """The arguments, of which the first one is a square matrix.  Raises `NotSaid` outside of loops."""
    dtypes = {getattr(nests.types.of(a), "dtype", "") for a in s.args}
    if not nests.in_loop or s.keywords or len(dtypes) != 1 or not dtypes <= {"float64", "float32"}:
        raise NotSaid(f"{getattr(s.op, '__name__', 'this')} of something else, or outside of loops")
    lengths = nests.lengths(s.args[0])
    if len(lengths) != 2 or not nests.same(*lengths):
        raise NotSaid("matrices that may not be square, or stacks of them")
    return tuple(operand(nests, a) for a in s.args)


@word(np.linalg.inv, np.linalg.cholesky)
def square(nests: Words, s: Assign) -> None:
    """The inverse, or the factor of Cholesky."""
    lengths = nests.lengths(s.args[0])
    nests.add(Assign(s.target, s.op, handed(nests, s), (), s.span))
    made(nests, s.target, lengths)


@word(np.linalg.solve)
def solution(nests: Words, s: Assign) -> None:
    """The solution of linear equations, with one right side or several."""
    lengths = nests.lengths(s.args[1])
    if len(lengths) > 2 or not nests.same(lengths[0], nests.lengths(s.args[0])[0]):
        raise NotSaid("equations whose sides may not agree")
    nests.add(Assign(s.target, s.op, handed(nests, s), (), s.span))
    made(nests, s.target, lengths)


@word(np.linalg.det)
def determinant(nests: Words, s: Assign) -> None:
    """The determinant."""
    nests.add(Assign(s.target, s.op, handed(nests, s), (), s.span))


@word(np.linalg.slogdet)
def sign_and_log(nests: Words, s: Assign) -> None:
    """The sign of the determinant, and the logarithm of its size."""
    given, items = handed(nests, s), []
    number = Scalar(nests.types.of(s.args[0]).dtype)  # type: ignore[union-attr]
    both = nests.emit(s.op, given, "%both", Tuple((number, number)))
    for k in range(2):
        items.append(nests.emit(operator.getitem, (both, Const(k)), "%item", number))
    nests.parts[s.target] = tuple(items)
