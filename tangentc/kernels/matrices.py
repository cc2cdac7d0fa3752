"""Products of matrices: loops where they are small, else BLAS.

c = a @ b, of 4 x 4         for i in range(4):
                                for k in range(4):
                                    total = 0.0
                                    for j in range(4):
                                        total += a[i, j] * b[j, k]
                                    c[i, k] = total
c = a.T @ b, of n x 3       for j in range(n):
                                for i in range(3):
                                    for k in range(3):
                                        c[i, k] += a[j, i] * b[j, k]
c = a @ b, of n x n         np.dot(a, b), in loops

A product is small where few numbers are added up, or added to: it takes as long to read its operands as to multiply
them, and it becomes one loop with what stands around it.  Of others BLAS does more at a time than a loop of ours.
"""

from __future__ import annotations

import importlib.util
import math
import operator

import numpy as np

from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Array
from tangentc.kernels.products import contracted
from tangentc.kernels.words import Words, word
from tangentc.kernels.writing import Axis, Into, NotSaid, View

FEW = 8  # numbers that a loop adds up as quickly as BLAS does
FEW_SUMS = 36  # and to how many it adds, where each has many terms


@word(operator.matmul, np.matmul, np.dot)
def product(nests: Words, s: Assign) -> None:
    """The product of two matrices, of stacks of them, and of vectors."""
    nests.refuse_product(s)
    a, b = s.args[:2]
    if len(s.args) > 2 or s.keywords or not (nests.is_array(a) and nests.is_array(b)):
        raise NotSaid("a product")
    dtypes = {getattr(nests.types.of(x), "dtype", "") for x in (a, b)}
    lengths, others = nests.lengths(a), nests.lengths(b)
    if "bool" in dtypes or s.op is np.dot and len(others) > 2:
        raise NotSaid("a product of other arrays")
    if not nests.same(lengths[-1], others[-min(len(others), 2)]):
        raise NotSaid("arrays whose lengths may not be the same")
    given, out, order = letters(nests, a, b)
    if order is not None:
        contracted(nests, s, given, out, order)
    elif nests.in_loop and len(lengths) == len(others) == 2 and len(dtypes) == 1 and "int64" not in dtypes:
        by_blas(nests, s)
    else:
        raise NotSaid("a product of large matrices")


def letters(nests: Words, a: Atom, b: Atom) -> tuple[tuple[tuple[str, str], ...], str, str | None]:
    """A product as `np.einsum` says it: the axes of the operands and of the result, and in which order loops run over
    them, None for one that is left to BLAS."""
    lengths, others = nests.lengths(a), nests.lengths(b)
    i, k = "i" * (len(lengths) > 1), "k" * (len(others) > 1)
    batch = "abcdefgh"[: max(len(lengths), len(others), 2) - 2]
    of_a, of_b = batch[len(batch) - len(lengths[:-2]) :], batch[len(batch) - len(others[:-2]) :]
    given = (str(a), f"{of_a}{i}j"), (str(b), f"{of_b}j{k}")
    outer = [n for n, letter in ((lengths[-min(len(lengths), 2)], i), (others[-1], k)) if letter]
    order = None
    if is_few(nests, lengths[-1]):
        order = f"{batch}{i}{k}j"
    elif len(outer) == 2 and has_few(nests, outer):
        order = f"{batch}j{i}{k}"
    elif len(outer) < 2 and nests.in_loop and not batch:
        order = f"j{i}{k}" if k or i and lies_in_columns(nests.view(a)) else f"{i}j"
    return given, f"{batch}{i}{k}", order


def is_few(nests: Words, n: Atom) -> bool:
    """Whether a length is known to be small."""
    n = nests.canonical(n)
    return isinstance(n, Const) and n.value <= FEW


def has_few(nests: Words, lengths: list[Atom]) -> bool:
    """Whether a matrix of these lengths is known to have few entries."""
    known = [n.value for n in map(nests.canonical, lengths) if isinstance(n, Const)]
    return len(known) == len(lengths) and math.prod(known) <= FEW_SUMS


def lies_in_columns(view: View) -> bool:
    """Whether entries of the first axis are next to each other in memory."""
    return (view.axes[-2].of or 0) > (view.axes[-1].of or 0)


# ---------------------------------------------------------- by BLAS
def by_blas(nests: Words, s: Assign) -> None:
    """A product of matrices by Numba's `np.dot`."""
    a, b = (operand(nests, x) for x in s.args)
    lengths = nests.lengths(s.args[0])[0], nests.lengths(s.args[1])[1]
    nests.add(Assign(s.target, np.dot, (a, b), (), s.span))
    made(nests, s.target, lengths)


def made(nests: Words, target: str, lengths: tuple[Atom, ...]) -> None:
    """Note an array that a function of Numba's gives."""
    nests.views[target] = View(target, tuple(Axis(k, Const(0), 1, n) for k, n in enumerate(lengths)))
    nests.contiguous.add(target)


def operand(nests: Words, x: Atom) -> Atom:
    """A matrix as an array of the kernel that lies in memory row by row, or column by column."""
    if importlib.util.find_spec("scipy") is None:
        raise NotSaid("what Numba computes by SciPy")
    view = nests.view(x)
    fixed, inner = len(view.fixed), tuple(a.of for a in view.axes)
    last = tuple(range(fixed, fixed + len(inner)))
    if inner not in (last, last[::-1]) or not all(is_whole(nests, view.array, a) for a in view.axes):
        return nests._own(x)
    t = nests.types.of(view.array)
    assert isinstance(t, Array)
    array = in_order(nests, view.array)
    if fixed:
        place = nests._index(View(view.array, (), view.fixed), ())
        array = nests.emit(operator.getitem, (array, place), "%row", Array(t.dtype, t.shape[fixed:]))
    if inner != last:
        array = nests.emit(np.transpose, (array,), "%turned", Array(t.dtype, t.shape[fixed:][::-1]))
    return array


def is_whole(nests: Words, array: str, axis: Axis) -> bool:
    """Whether an axis is one of the array's, from end to end."""
    if axis.of is None or axis.start != Const(0) or axis.step != 1:
        return False
    try:
        n = nests.length(array, axis.of)
    except NotSaid:  # the room for what is saved may be longer
        return False
    return nests.canonical(n) == nests.canonical(axis.length)


def in_order(nests: Words, array: str) -> str:
    """An array as one that is known to lie row by row: a copy if it does not."""
    made = nests.made.get(array)
    if array in nests.contiguous or array in nests.own or isinstance(made, Assign) and made.op in MADE:
        return array
    t = nests.types.of(array)
    if array not in nests.params or nests.is_changed(array):
        return nests.emit(np.ascontiguousarray, (array,), "%rows", t)
    if array not in nests.in_rows:
        with Into(nests, nests.head):
            nests.in_rows[array] = nests.emit(np.ascontiguousarray, (array,), "%rows", t)
    return nests.in_rows[array]


MADE = {np.empty, np.zeros, np.ones}
