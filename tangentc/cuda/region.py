"""A run of statements on arrays as launches of kernels, and what the host does between them.

y = a * x + b                      y = cp.empty(n)
z = np.exp(y) * y          ->      z = cp.empty(n)
                                   launch(f_fused, (n,), (y, z, x, a, b, n), (0, 1))
"""

from __future__ import annotations

import builtins
import operator
from typing import TYPE_CHECKING

import numpy as np

from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.lengths import Length
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, Function, Statement
from tangentc.core.types import Array, Known, Scalar
from tangentc.core.walk import definitions, statements, substitute_block
from tangentc.cuda.nests import DeviceNests
from tangentc.cuda.shape import Shapes
from tangentc.cuda.text import Written
from tangentc.kernels.again import again
from tangentc.kernels.contract import contracted
from tangentc.kernels.forwards import forwards
from tangentc.kernels.fuse import fused
from tangentc.kernels.gather import gathered
from tangentc.kernels.kernel import Kernel
from tangentc.kernels.language import is_array
from tangentc.kernels.once import once
from tangentc.kernels.rounding import may_round
from tangentc.kernels.tidy import plain, without_unread
from tangentc.kernels.writing import INTEGER, Into, NotSaid

if TYPE_CHECKING:
    from tangentc.cuda.launches import Launches

EXACT, RELAXED = ("--std=c++17", "--fmad=false"), ("--std=c++17",)  # an adjoint may round a * b + c once
OF_HOST: set[object] = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.pow, builtins.abs,
    builtins.float, builtins.int, np.float64, np.float32, np.int64, ops.identity,
}  # fmt: skip
KINDS = {"float64": builtins.float, "float32": np.float32, "int64": builtins.int, "bool": builtins.bool}


class Region(Kernel):
    """One run of a program."""

    o: Launches

    def __init__(self, outline: Launches, region: Block, later: set[Atom]):
        super().__init__(outline, region, later)
        self.nests = DeviceNests(self.types, outline.fresh, self._root, outline.program.aliases.is_changed)
        self.nests.finished, self.nests.in_loop = outline.finished, False
        self.nests.asked_before = outline.asked if outline.is_outermost else set(outline.asked)
        self.out: list[Statement] = []

    def calls(self) -> list[Statement]:
        body, arguments = self._given()
        self.params = set(arguments)
        self._refuse_shared(arguments)
        self.nests.know(arguments)
        try:
            lowered = self.nests.block(body)
        except NotSaid as reason:  # of the region's statements, with its own names for data of the module
            before = len(body) - len(self.region)
            reason.statement = next((s for s, x in zip(self.region, body[before:]) if x is reason.statement), None)
            raise
        lowered = (*self.nests.head, *lowered)
        outs, behind = self._handed_on(lowered)
        lowered = self._simplified(lowered, outs)
        self.made = definitions(lowered)
        self.shapes = Shapes(self.types, self.made, self._root)
        for s in lowered:
            if isinstance(s, For):
                self._launch(s)
            elif isinstance(s, Assign) and s.op is builtins.range:
                continue
            else:
                self.out.append(s)
        back: dict[str, Atom] = dict(self.data)
        return [*substitute_block(tuple(self.out), back), *behind]  # type: ignore[arg-type]

    def _simplified(self, body: Block, outs: object) -> Block:
        kept: set[Atom] = {*outs}  # type: ignore[misc]
        body = plain(body, kept)
        body = plain(again(body, self.types, self.o.fresh, self._root, kept), kept)
        body = gathered(body, self.types, self.o.fresh, self._root, self.nests.said)
        body = forwards(body, self.types, self._root)
        body = fused(body, self.types, self._root, False)
        body = plain(contracted(body, self.types, self.o.fresh, kept), kept)
        body = once(body, self.types, self.o.fresh, self._root, kept)
        return without_unread(plain(body, kept), kept, ops.is_pure)

    # ---------------------------------------------------------- launches
    def _launch(self, nest: For) -> None:
        try:
            shape = self.shapes.of(nest, self.o.atomic)
            name = self.o.unique_name(self._name_of(nest))
            text = Written(name, nest, shape, self.types, self.made, self._root, self._size, self._is_of_host)
        except NotSaid as reason:
            if reason.statement is None:
                reason.statement = next((s for s in self.region if s.span == nest.span), None)
            raise
        trips = tuple(self._trips(s) for s in reversed(shape.grid)) or (Const(1),)
        given = tuple(self._handed(a) for a in text.given)
        count = len(text.written)
        helper: object = ops.Launch(name, len(given), tuple(range(count)))
        if shape.rows:
            inside = next(s for s in shape.body if isinstance(s, For))
            helper = ops.Launch(name, len(given), tuple(range(count)), True)
            trips = (self._trips(inside), *trips)
        self.out.append(Effect(helper, (*given, *trips), (), nest.span))  # type: ignore[arg-type]
        options = RELAXED if may_round((nest,), self.types) else EXACT
        function = Function(name, (), (), Const(None), nest.span, "")
        program = Program(function, self.types, Known(Const(None)), False, self.o.program.source)
        program.device = ops.DeviceText(text.text, options)
        self.o.kernels.append(program)

    def _name_of(self, nest: For) -> str:
        self.span, before = nest.span, self.span
        name = self._name()
        self.span = before
        return name

    def _trips(self, s: For) -> Atom:
        """How often a loop runs, as a number of the host."""
        made = self.made[str(s.iterable)]
        assert isinstance(made, Assign)
        first, end = made.args if len(made.args) > 1 else (Const(0), made.args[0])
        with Into(self.nests, self.out):
            return self.nests.plus(end, first, operator.sub)

    def _size(self, d: Length) -> Atom:
        """How long an axis is, as a number of the host."""
        known = self.nests.known.get(d)
        if known is not None and (known in self.made or known in self.params):
            return known
        for array in sorted(self.params | {s.target for s in statements(tuple(self.out)) if isinstance(s, Assign)}):
            t = self.types.of(array)
            if isinstance(t, Array) and is_array(t) and d in t.shape:
                with Into(self.nests, self.out):
                    shape = self.nests.emit(np.shape, (array,), "%shape")
                    n = self.nests.emit(operator.getitem, (shape, Const(t.shape.index(d))), "n", INTEGER)
                self.nests.known[d], self.made[n] = n, self.nests.made[n]
                return n
        raise NotSaid("a length that is not known before the launch")

    def _handed(self, atom: Atom) -> Atom:
        """What a kernel is given for a value: of numbers, those of the device as arrays, those of Python as what they
        were compiled for."""
        t = self.types.of(atom)
        if not isinstance(t, Scalar):
            return atom
        with Into(self.nests, self.out):
            if not self._is_of_host(atom):
                made = self.o.fresh("%number")
                self.types.of_name[made] = t
                dtype = (("dtype", Const(np.dtype(t.dtype).type)),)
                self.nests.add(Assign(made, np.asarray, (atom,), dtype, self.span))  # type: ignore[arg-type]
                return made
            if self._is_exact(atom):
                return atom
            return self.nests.emit(KINDS[t.dtype], (atom,), "%number", t)

    def _is_of_host(self, atom: Atom, deep: int = 20) -> bool:
        """Whether a number is surely one of the host, and none of the device."""
        t = self.types.of(atom)
        if not isinstance(t, Scalar):
            return False
        if t.weak or isinstance(atom, Const) or atom in self.o.given:
            return True
        made = self.made.get(str(atom)) or self.o.definitions.get(str(atom))
        if not isinstance(made, Assign) or not deep or made.op not in OF_HOST:  # NumPy's functions are CuPy's here
            return False
        return all(self._is_of_host(a, deep - 1) for a in made.atoms)

    def _is_exact(self, atom: Atom) -> bool:
        """Whether a number of Python is surely one of its type, and no integer where a real number is meant."""
        if not isinstance(atom, str) or getattr(self.types.of(atom), "dtype", "") == "float32":
            return False
        made = self.made.get(atom) or self.o.definitions.get(atom)
        if made is None:
            return atom in self.o.given
        if not isinstance(made, Assign):
            return isinstance(made, For) and made.target == atom
        if made.op in (builtins.float, builtins.int, operator.truediv, builtins.len):
            return True
        if made.op is operator.getitem:
            shape = self.made.get(str(made.args[0])) or self.o.definitions.get(str(made.args[0]))
            return isinstance(shape, Assign) and shape.op in (np.shape, builtins.getattr)
        if made.op not in (operator.add, operator.sub, operator.mul, operator.neg, operator.pow):
            return False
        floats = [type(a.value) is float if isinstance(a, Const) else self._is_float(a) for a in made.args]
        integers = [type(a.value) is int if isinstance(a, Const) else self._is_exact(a) for a in made.args]
        return any(floats) if getattr(self.types.of(atom), "dtype", "") == "float64" else all(integers)

    def _is_float(self, atom: Atom) -> bool:
        return getattr(self.types.of(atom), "dtype", "") == "float64" and self._is_exact(atom)
