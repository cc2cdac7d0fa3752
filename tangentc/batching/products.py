"""Products of matrices and vectors of a batch.

W @ x      ->      x @ W.T                                   where W is the same for all examples
A @ B      ->      A @ B
x @ y      ->      np.einsum("bi,bi->b", x, y)
"""

from __future__ import annotations

import operator
import string
from collections.abc import Sequence

import numpy as np

from tangentc.batching.generic import generic
from tangentc.batching.marks import Mark
from tangentc.batching.registry import batches
from tangentc.batching.writer import Writer
from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Known, is_complex, is_numeric

Found = tuple[Atom, Mark] | None


@batches(operator.matmul, np.matmul, np.linalg.matmul)
def matmul(w: Writer, s: Assign) -> Found:
    ranks = w.ranks(*s.args)
    if ranks is None or len(s.args) != 2 or s.keywords or not all(ranks):
        return None
    (x, y), (m, n) = s.args, ranks
    of_x, of_y = bool(w.mark(x)), bool(w.mark(y))
    if m == n == 1 and of_x and of_y:
        return summed(w, "bi,bi->b", x, y)
    if m == 1 and n == 1:
        return w.emit(s.op, tuple(map(w.now, (x, y) if of_x else (y, x)))), True
    if m == 2 and n == 1 and of_y:
        if of_x:
            return summed(w, "bij,bj->bi", x, y)
        return w.emit(s.op, (w.now(y), _transposed(w, x))), True
    if m == 1 and n == 2 and of_x and of_y:
        return summed(w, "bi,bij->bj", x, y)
    if min(m, n) == 1:
        known = not of_x or not of_y
        return (w.emit(s.op, (w.now(x), w.now(y))), True) if known and max(m, n) == 2 else None
    rank = max(m, n)
    return w.emit(s.op, (w.aligned(x, rank), w.aligned(y, rank))), True


def _transposed(w: Writer, matrix: Atom) -> Atom:
    """A matrix that all examples share, transposed: what it is the transposed one of, where it is one."""
    made = w.made.get(matrix) if isinstance(matrix, str) else None
    if isinstance(made, Assign) and made.op is np.transpose and len(made.args) == 1 and not made.keywords:
        return w.now(made.args[0])
    return w.emit(np.transpose, (w.now(matrix),))


def summed(w: Writer, subscripts: str, *args: Atom) -> Found:
    return w.emit(np.einsum, (Const(subscripts), *map(w.now, args))), True


@batches(np.dot)
def dot(w: Writer, s: Assign) -> Found:
    ranks = w.ranks(*s.args)
    if ranks is None or len(s.args) != 2 or s.keywords:
        return None
    if not all(ranks):
        rank = max(ranks)
        return w.emit(operator.mul, tuple(w.aligned(a, rank) for a in s.args)), True
    return matmul(w, s_as(s, operator.matmul)) if max(ranks) <= 2 else None


def s_as(s: Assign, op: object) -> Assign:
    """The call of another operation on the same arguments."""
    return Assign(s.target, op, s.args, (), s.span)  # type: ignore[arg-type]


@batches(np.inner)
def inner(w: Writer, s: Assign) -> Found:
    ranks = w.ranks(*s.args)
    if ranks == [1, 1] and not s.keywords:
        return matmul(w, s_as(s, operator.matmul))
    return _spelled(w, "ij,kj->ik", s.args) if ranks == [2, 2] else None


@batches(np.vdot)
def vdot(w: Writer, s: Assign) -> Found:
    ranks = w.ranks(*s.args)
    real = not any(is_complex(w.type(a)) for a in s.args)
    return matmul(w, s_as(s, operator.matmul)) if ranks == [1, 1] and real else None


@batches(np.outer, np.linalg.outer)
def outer(w: Writer, s: Assign) -> Found:
    x, y = s.args[:2]
    if len(s.args) != 2 or s.keywords or w.ranks(x, y) != [1, 1]:
        return None
    key = Const((slice(None), slice(None), None) if w.mark(x) else (slice(None), None))
    column = w.emit(operator.getitem, (w.now(x), key))
    return w.emit(operator.mul, (column, w.with_axes(w.now(y), 1) if w.mark(y) else w.now(y))), True


@batches(np.linalg.solve)
def solve(w: Writer, s: Assign) -> Found:
    """A system for each example; NumPy takes several vectors for the columns of a matrix."""
    if w.ranks(*s.args) != [2, 1] or s.keywords or not w.mark(s.args[1]):
        return generic(w, s)
    matrix, vector = map(w.now, s.args)
    if not w.mark(s.args[0]):
        columns = w.emit(np.linalg.solve, (matrix, w.emit(np.transpose, (vector,))))
        return w.emit(np.transpose, (columns,)), True
    column = w.emit(operator.getitem, (vector, Const((slice(None), slice(None), None))))
    solved = w.emit(np.linalg.solve, (matrix, column))
    return w.emit(operator.getitem, (solved, Const((slice(None), slice(None), 0)))), True


@batches(np.tensordot, np.linalg.tensordot)
def tensordot(w: Writer, s: Assign) -> Found:
    ranks = w.ranks(*s.args[:2])
    said = (*s.args[2:], *(a for k, a in s.keywords if k == "axes"))
    axes = said[0] if said else Const(2)
    if ranks is None or not isinstance(axes, Const) or len(said) + 2 != len(s.args) + len(s.keywords):
        return None
    m, n = ranks
    over = axes.value
    if isinstance(over, int):
        over = range(m - over, m), range(over)
    first, second = ([over_] if isinstance(over_, int) else [*over_] for over_ in over)
    letters = iter(string.ascii_lowercase[8:] + string.ascii_lowercase[:8])
    left = [next(letters) for _ in range(m)]
    right = [next(letters) for _ in range(n)]
    for i, j in zip(first, second, strict=True):
        right[j] = left[i]
    shared = {left[i] for i in first}
    kept = [c for c in left if c not in shared] + [c for c in right if c not in shared]
    return _spelled(w, f"{''.join(left)},{''.join(right)}->{''.join(kept)}", s.args[:2])


@batches(np.einsum)
def einsum(w: Writer, s: Assign) -> Found:
    t = w.type(s.args[0])
    text = s.args[0].value if isinstance(s.args[0], Const) else t.value if isinstance(t, Known) else None
    if not isinstance(text, str) or any(k != "optimize" for k, _ in s.keywords):
        return None
    return _spelled(w, text, s.args[1:])


def _spelled(w: Writer, subscripts: str, args: Sequence[Atom]) -> Found:
    """A sum of products in which the batch is one more axis."""
    if not all(is_numeric(w.type(a)) for a in args):
        return None
    given, arrow, kept = subscripts.replace(" ", "").partition("->")
    terms = given.split(",")
    if not arrow:
        once = [c for c in sorted(set(given) - {",", "."}) if given.count(c) == 1]
        kept = "..." * ("..." in given) + "".join(once)
    letter = next(c for c in "b" + string.ascii_letters if c not in subscripts)
    terms = [letter + t if w.mark(a) else t for t, a in zip(terms, args, strict=True)]
    spelled = f"{','.join(terms)}->{letter}{kept}"
    return w.emit(np.einsum, (Const(spelled), *map(w.now, args))), True
