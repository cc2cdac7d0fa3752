"""Values that are above zero, or alike: good for a root, a logarithm or a quotient at all entries, or at none.

v_plus = np.maximum(v, 1e-3)      is above zero
v_plus * dt                       is above zero at all entries or at none, as the number dt is
e = np.exp(z - np.max(z))         is one at most, and may be too small for a number; but one entry of it is one,
np.sum(e)                         so that this is above zero
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable

import numpy as np

from tangentc.analysis.felt import stored_into
from tangentc.core.build import is_number
from tangentc.core.nodes import Assign, Atom, Const, Statement
from tangentc.core.types import Scalar, Type

ABOVE = {np.exp, np.exp2, np.cosh}  # zero aside, the numbers that are too small
NOT_BELOW = {np.abs, builtins.abs, np.square}
KEEPING = {
    np.sqrt, operator.getitem, np.transpose, np.reshape, np.ravel, np.expand_dims, np.sum, np.mean, np.max, np.min,
    np.cumsum, np.copy,
}  # fmt: skip
GROWING = {np.exp, np.exp2, np.expm1, np.cosh, np.sinh, np.square, np.prod, np.cumprod}  # beyond all numbers
LARGER, SMALLER = {np.maximum, builtins.max}, {np.minimum, builtins.min}
TOGETHER = {operator.mul, operator.truediv}


class Signs:
    """What is known of the signs of the values of a program."""

    def __init__(self, body: list[Statement], of: Callable[[Atom], Type]):
        self.of, changed = of, stored_into(body)
        self.above: set[Atom] = set()
        self.not_below: set[Atom] = set()
        self.not_above: set[Atom] = set()
        self.peaks: dict[Atom, Atom | None] = {}  # what is one at an entry along some axis, with that axis
        self.alike: set[Atom] = set()
        self.made: dict[Atom, Assign] = {s.target: s for s in body if isinstance(s, Assign)}
        for s in body:
            if isinstance(s, Assign) and s.args and s.target not in changed:
                self._note(s)

    def is_above(self, atom: Atom) -> bool:
        return atom in self.above or is_number(atom) and atom.value > 0

    def is_not_below(self, atom: Atom) -> bool:
        return atom in self.not_below or self.is_above(atom) or is_number(atom, 0)

    def is_not_above(self, atom: Atom) -> bool:
        return atom in self.not_above or is_number(atom) and atom.value <= 0

    def is_alike(self, atom: Atom) -> bool:
        return atom in self.alike or self.is_above(atom) or isinstance(self.of(atom), Scalar)

    def grows(self, s: Assign) -> bool:
        """Whether what an operation gives may be beyond all numbers."""
        if s.op in ABOVE | {np.expm1} and s.op is not np.cosh and self.is_not_above(s.args[0]):
            return False
        special = isinstance(s.op, np.ufunc) and getattr(np, s.op.__name__, None) is not s.op  # one of SciPy's
        return special or s.op in GROWING

    def _note(self, s: Assign) -> None:
        two = s.args[:2] if len(s.args) == 2 and not s.keywords else None
        if s.op in ABOVE and s.op is not np.cosh and self.is_not_above(s.args[0]):
            self.not_below.add(s.target)
            self.peaks.update({s.target: self.peaks[s.args[0]]} if s.args[0] in self.peaks else {})
        elif s.op is np.sum and s.args[0] in self.peaks and _axis(s) in (None, self.peaks[s.args[0]]):
            self.above.add(s.target)
        elif s.op in ABOVE or s.op in KEEPING and self.is_above(s.args[0]):
            self.above.add(s.target)
        elif s.op in NOT_BELOW or s.op in KEEPING and self.is_not_below(s.args[0]) or s.op is np.sqrt:
            self.not_below.add(s.target)
        elif s.op in KEEPING and s.args[0] in self.not_above or s.op is operator.neg and self.is_not_below(s.args[0]):
            self.not_above.add(s.target)
        elif s.op in KEEPING and s.args[0] in self.alike:
            self.alike.add(s.target)
        elif two is not None:
            self._of_two(s, *two)

    def _largest(self, y: Atom, x: Atom) -> Assign | None:
        """How one value is made, if it is the largest of the entries of another, along some axes."""
        made = self.made.get(y)
        while made is not None and made.op in (operator.getitem, np.expand_dims) and self._adds_axes(made):
            made = self.made.get(made.args[0])
        return made if made is not None and made.op in (np.max, np.amax) and made.args == (x,) else None

    def _adds_axes(self, s: Assign) -> bool:
        key = s.args[1] if len(s.args) > 1 else Const(())
        parts = key.value if isinstance(key, Const) and isinstance(key.value, tuple) else (getattr(key, "value", 0),)
        return s.op is np.expand_dims or all(p is None or p == slice(None) for p in parts)

    def _of_two(self, s: Assign, x: Atom, y: Atom) -> None:
        if s.op in TOGETHER:
            if self.is_above(x) and self.is_above(y):
                self.above.add(s.target)
            elif self.is_not_below(x) and self.is_not_below(y) or x == y and s.op is operator.mul:
                self.not_below.add(s.target)
            elif self.is_not_above(x) and self.is_not_below(y) or self.is_not_below(x) and self.is_not_above(y):
                self.not_above.add(s.target)
            elif self.is_alike(x) and self.is_alike(y):
                self.alike.add(s.target)
        elif s.op is operator.sub and (largest := self._largest(y, x)) is not None:
            self.not_above.add(s.target)
            self.peaks[s.target] = _axis(largest)
        elif s.op is operator.add and self.is_not_below(x) and self.is_not_below(y):
            (self.above if self.is_above(x) or self.is_above(y) else self.not_below).add(s.target)
        elif s.op in LARGER and (self.is_above(x) or self.is_above(y)):
            self.above.add(s.target)
        elif s.op in SMALLER and self.is_above(x) and self.is_above(y):
            self.above.add(s.target)
        elif s.op is operator.pow and (self.is_above(x) or is_number(y) and y.value % 2 == 0):
            (self.above if self.is_above(x) else self.not_below).add(s.target)


def _axis(s: Assign) -> Atom | None:
    """The axis that an operation reduces, as it is written; None for all."""
    axis = dict(s.keywords).get("axis")
    return None if axis == Const(None) else axis
