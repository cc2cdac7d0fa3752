"""Products of two arrays, and sums that have names of their own, as loops.

np.cross(a, b)              c[i, 0] = a[i, 1] * b[i, 2] - a[i, 2] * b[i, 1]; ...
np.einsum("ij,ij->i", a, b)     total += a[i, j] * b[i, j], for each i; of adjoints
np.linalg.norm(a, axis=1)   the root of what a[i, j] * a[i, j] add up to
"""

from __future__ import annotations

import operator

import numpy as np

from tangentc.core.nodes import Assign, Atom, Const
from tangentc.kernels.language import is_array
from tangentc.kernels.words import Words, word
from tangentc.kernels.writing import NotSaid
from tangentc.runtime import unbroadcast


@word(np.cross)
def cross(nests: Words, s: Assign) -> None:
    """Of vectors along the last axes, with NumPy's differences."""
    a, b = nests.arrays(s, 2)
    lengths = nests._space((a, b))
    if len(s.args) > 2 or not all(nests.same(nests.lengths(x)[-1], Const(3)) for x in (a, b)):
        raise NotSaid("a cross product of other vectors")
    nests._allocate(s.target, lengths, np.empty)
    view = nests.view(s.target)

    def write(at: tuple[Atom, ...]) -> None:
        one, other = ([nests.entry(x, (*at, Const(k)), lengths) for k in range(3)] for x in (a, b))
        for k in range(3):
            up, down = (k + 1) % 3, (k + 2) % 3
            terms = nests.product(one[up], other[down]), nests.product(one[down], other[up])
            nests._store(view, (*at, Const(k)), nests.emit(operator.sub, terms), None)

    nests.nest(lengths[:-1], write)


@word(np.einsum)
def einsum(nests: Words, s: Assign) -> None:
    """A sum of products of two arrays."""
    nests.of_adjoints(s)
    a, b = nests.arrays(s, 2)
    said = getattr(s.args[0], "value", None)
    given, _, out = said.partition("->") if isinstance(said, str) else ("", "", "")
    letters = given.split(",")
    if len(s.args) != 3 or not given.replace(",", "").isalpha() or any(len(set(p)) < len(p) for p in (*letters, out)):
        raise NotSaid("this einsum")
    contracted(nests, s, ((a, letters[0]), (b, letters[1])), out)


@word(np.vdot)
def vdot(nests: Words, s: Assign) -> None:
    """The sum of the products of all entries."""
    nests.of_adjoints(s)
    a, b = nests.arrays(s, 2)
    letters = "ijklmn"[: len(nests.lengths(a))]
    if len(nests.lengths(b)) != len(letters):
        raise NotSaid("a product of arrays of other shapes")
    contracted(nests, s, ((a, letters), (b, letters)), "")


def contracted(nests: Words, s: Assign, given: tuple[tuple[str, str], ...], out: str, loops: str = "") -> None:
    """The sum of products over the letters that the result lacks; ``loops`` is the order of the loops, if it is known
    which is quickest."""
    sizes: dict[str, Atom] = {}
    for x, letters in given:
        for letter, n in zip(letters, nests.lengths(x), strict=True):
            known = sizes.setdefault(letter, n)
            if known == Const(1):
                sizes[letter] = n
            elif n != Const(1) and not nests.same(n, known):
                raise NotSaid("arrays whose lengths may not be the same")
    order = loops or "".join(dict.fromkeys("".join(letters for _, letters in given)))
    if not loops and ("".join(x for x in order if x in out) != out or order[-1] not in out):
        order = out + "".join(x for x in order if x not in out)
    lengths = tuple(nests.canonical(sizes[x]) for x in order)

    def term(at: tuple[Atom, ...]) -> Atom:
        places = dict(zip(order, at))
        return nests.product(*(
            nests.entry(x, tuple(map(places.__getitem__, p)), tuple(map(sizes.__getitem__, p))) for x, p in given
        ))  # fmt: skip

    over = {k for k, x in enumerate(order) if x not in out}
    if not over:
        nests.fill(s.target, lengths, lambda at, n: term(at))
    elif loops:
        nests._sum(s, lengths, over, term, False, False, None)
    else:
        nests.sum_of(s, lengths, over, term)


@word(np.trace)
def trace(nests: Words, s: Assign) -> None:
    """The sum along the diagonal."""
    nests.of_adjoints(s)
    (a,) = nests.arrays(s, 1)
    lengths = nests.lengths(a)
    if len(s.args) > 1 or len(lengths) != 2 or not nests.same(*lengths):
        raise NotSaid("this trace")
    nests._sum(s, lengths[:1], {0}, lambda at: nests.entry(a, (*at, *at), lengths), False, False, None)


@word(unbroadcast)
def narrowed(nests: Words, s: Assign) -> None:
    """The adjoint of what may have been broadcast: the value itself where it has its lengths, else sums."""
    value, like = s.args
    t = nests.types.of(s.target)
    if not nests.is_array(value) or not is_array(t) or nests.types.of(value).dtype != t.dtype:  # type: ignore[union-attr]
        raise NotSaid("what an array is broadcast from")
    given, own = nests._space((value,)), nests.lengths(like)
    extra = len(given) - len(own)
    if extra < 0:
        raise NotSaid("an adjoint that is broadcast itself")
    over = {k for k, n in enumerate(given) if k < extra or own[k - extra] == Const(1) != n}
    if 0 < extra < len(over) or not all(k in over or nests.same(n, own[k - extra]) for k, n in enumerate(given)):
        raise NotSaid("arrays whose lengths may not be the same")
    if not over:
        return nests._rename(s, value)
    if not nests.in_loop:
        nests.apart.add(s.target)
    nests._sum(s, given, over, lambda at: nests.entry(value, at, given), not extra, False, None)


@word(np.linalg.norm)
def norm(nests: Words, s: Assign) -> None:
    """The roots of sums of squares along an axis."""
    axis = dict(s.keywords).get("axis")
    if len(s.args) != 1 or not isinstance(axis, Const) or type(axis.value) is not int:
        raise NotSaid("a norm of a whole array, or another one")
    squares = nests.write(s, np.square, s.args)
    nests.write(s, np.sqrt, (nests.write(s, np.sum, (squares,), s.keywords),), (), s.target)


@word(np.outer)
def outer(nests: Words, s: Assign) -> None:
    """All products of an entry of one vector and one of another."""
    a, b = nests.arrays(s, 2)
    if any(len(nests.lengths(x)) != 1 for x in (a, b)):
        raise NotSaid("a product of other arrays")
    column = nests.write(s, operator.getitem, (a, Const((slice(None), None))))
    nests.write(s, operator.mul, (column, b), (), s.target)
