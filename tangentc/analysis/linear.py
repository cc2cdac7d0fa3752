"""Integers as linear forms: sums of other integers, each as often as a number says.

    m = n - 1; k = 2 * i + m            k is 2 i + n - 1

A form speaks of lengths, and of names whose values nothing more is known of.  Two integers of one form are equal in one
trip of the loops around them.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Hashable, Mapping

from tangentc.core import ops
from tangentc.core.lengths import EXACT, Dim, Length
from tangentc.core.nodes import Assign, Atom, Const, Statement
from tangentc.core.types import Scalar, Type

Form = dict[Hashable, int]  # how often each symbol is in a sum; the number under ONE is added
ONE = "1"
DEEPEST = 20  # statements that one form looks through


def plus(a: Form, b: Form, times: int = 1) -> Form:
    """The sum of one form and a multiple of another."""
    total = {k: a.get(k, 0) + times * b.get(k, 0) for k in {**a, **b}}
    return {k: n for k, n in total.items() if n}


def constant(n: int) -> Form:
    return {ONE: n} if n else {}


def of_length(d: Length) -> Form:
    return plus({("length", d.symbol): d.times}, constant(d.offset))


def as_length(form: Form) -> Dim | None:
    """The length that a form says, None where it speaks of several, or of something else."""
    number, rest = form.get(ONE, 0), {k: n for k, n in form.items() if k != ONE}
    if not rest:
        return number if number >= 0 else None
    ((symbol, times), *more) = rest.items()
    if more or times < 1 or not isinstance(symbol, tuple) or symbol[0] != "length" or abs(number) > EXACT - 2:
        return None
    return Length(symbol[1], number, times)


class Forms:
    """The forms of integers, by what is known of names: their types, and the statements that define them."""

    def __init__(self, of: Callable[[Atom], Type], definitions: Mapping[str, Statement]):
        self.of, self.definitions = of, definitions

    def form(self, atom: Atom, deepest: int = DEEPEST) -> Form | None:
        """An integer as a linear form, None for what is none."""
        if isinstance(atom, Const):
            return constant(atom.value) if type(atom.value) is int else None
        t = self.of(atom)
        if not isinstance(atom, str) or not isinstance(t, Scalar) or t.dtype != "int64":
            return None
        if isinstance(t.value, int):
            return constant(t.value)
        if isinstance(t.value, Length) and not t.value.symbol.startswith("?"):
            return of_length(t.value)
        made = self.definitions.get(atom)
        if deepest and isinstance(made, Assign) and made.op in LINEAR and not made.keywords:
            given = [self.form(a, deepest - 1) for a in made.args]
            found = LINEAR[made.op](*given) if all(g is not None for g in given) else None
            if found is not None:
                return found
        return {atom: 1}


def _product(a: Form, b: Form) -> Form | None:
    number, other = (a, b) if not a.keys() - {ONE} else (b, a)
    return None if number.keys() - {ONE} else plus({}, other, number.get(ONE, 0))


LINEAR: dict[object, Callable[..., Form | None]] = {
    ops.identity: lambda a: a,
    operator.index: lambda a: a,
    builtins.int: lambda a: a,
    operator.neg: lambda a: plus({}, a, -1),
    operator.add: plus,
    operator.sub: lambda a, b: plus(a, b, -1),
    operator.mul: _product,
}
