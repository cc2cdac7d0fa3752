"""Derivatives that are taken inside: ``grad(f)``, ``vjp(f, x)``, ``jvp(f, (x,), (v,))`` and their kin."""

from __future__ import annotations

import contextlib
import functools
import operator
import types
from dataclasses import replace
from typing import Any

import gast

from tangentc import runtime
from tangentc.analysis.points import DESCRIPTORS
from tangentc.core import ops
from tangentc.core.classes import found_in_class
from tangentc.core.inside import Made, undecorated
from tangentc.core.jitted import in_python
from tangentc.core.nodes import Atom, Const, Global
from tangentc.core.types import Known, Optional, is_differentiable
from tangentc.errors import TangentcError
from tangentc.frontend.activation import Bound, Closure, made_in
from tangentc.frontend.assumed import CALLED
from tangentc.frontend.callables import is_known, python_function
from tangentc.frontend.environments import MADE_IN_A_TRIP, Environment
from tangentc.frontend.given import is_spread
from tangentc.frontend.nested import Nested, lift
from tangentc.frontend.part import Part
from tangentc.frontend.questions import function_in
from tangentc.rules.definitions.jacobians import INSIDE

HIGHEST = 8  # order of a derivative inside
JACOBIANS = ("jacfwd", "jacrev", "hessian")


class Inside(Part):
    """The part of lowering that knows derivatives of functions."""

    def handed(self, atom: Atom, node: Any, still: bool = False) -> Atom:
        """A function defined inside as one that a library can call: what it captures goes along."""
        value = atom.value if isinstance(atom, Const) else None
        if isinstance(value, Closure):
            function, captured = lift(value)
            named = {n: a for n, a in value.defaults.items() if not isinstance(a, Const)} | captured
            function.__tangentc_handed__ = True  # type: ignore[attr-defined]
            given: tuple[Atom, ...] = ()
        elif isinstance(value, Bound) and isinstance(value.function, DESCRIPTORS):
            raise self.unsupported(node, f"the method {value.__name__}, handed on", "give a function that calls it")
        elif isinstance(value, Bound) and isinstance(value.function, types.FunctionType):
            function, given, named = value.function, value.args, dict(value.keywords)
        else:
            return atom
        if not given and not named:
            return Const(function)
        if still:
            given = tuple(self.emit(ops.stopped, (a,), node) for a in given)
            named = {k: self.emit(ops.stopped, (a,), node) for k, a in named.items()}
        return self.emit(functools.partial, (Const(function), *given), node, tuple(named.items()))

    def nested(self, callee: Nested, args: list, keywords: list, node: Any, target: str | None) -> Atom:
        """Call a derivative: its emitted function, once the types of the arguments are known."""
        if callee.state != tuple(self.loops[: len(callee.state)]):
            raise self.unsupported(node, MADE_IN_A_TRIP, "call it in the trip that makes it")
        callee = self.for_given(callee, len(args), dict(keywords), node) if callee.kind == "vmap" else callee
        count = len(callee.wrt) if callee.kind == "jvp" else 1 if callee.kind == "adjoint" else 0
        extra = callee.extra()
        split = len(args) - count
        whole = self.with_defaults(callee, args[:split], dict(keywords), node)
        args, split = [*whole, *args[split:]], len(whole)
        given_ = [*args[:split], *extra, *args[split:]]
        site = self.span(node).site
        found = self.compiled(callee, given_)
        if found is not None:
            function, seeds, types_ = found
            self.assume("compiled", site, types_, node, *given_)
            at = split + len(extra) if callee.kind == "jvp" else len(given_)
            return self.invoke(function, [*given_[:at], *map(Const, seeds), *given_[at:]], [], node, target)
        return self.emit(ops.call, (Const(callee), *given_), node, target=target, name="%derivative")

    def for_given(self, callee: Nested, count: int, keywords: dict[str, Atom], node: Any) -> Nested:
        """A function of a batch whose one axis for all is that of the arguments that are given."""
        axes, out_axes, captured = callee.wrt
        if not isinstance(axes, int):
            return callee
        names, _ = self.parameters_of(callee.function, node)
        given = tuple(axes if k < count or n in keywords else None for k, n in enumerate(names))
        return replace(callee, wrt=(given, out_axes, captured))

    def compiled(self, callee: Nested, given: list[Atom]) -> Any:
        """The derivative for the types of its arguments here; None where they do not tell, or it is refused: a later
        walk, or typing, may know more."""
        types = [self.state.of(a) for a in given]
        may_be_none = any(isinstance(t, Optional) for _, t in self.asks.tangents(callee, (Const(None), *given)))
        if may_be_none:
            return None
        with contextlib.suppress(TangentcError):
            found = callee.compiled(types, self.known.derivatives)
            return None if found is None else (*found, types)
        return None

    def apart(self, atom: Atom, node: Any) -> Atom:
        """A value as it is now, whatever is changed later."""
        return self.emit(ops.copied, (atom,), node, name="%kept") if isinstance(atom, str) else atom

    def differentiation(self, callee: Any, args: list, keywords: list, node: Any) -> Atom | None:
        """``grad(f)``, ``vjp(f, x)`` and their kin inside the function."""
        kind = getattr(callee, "__tangentc_kind__", None)
        if kind is None:
            return None
        function = self.function_of(args[0], node)
        if function is None and isinstance(args[0], str):  # its type may tell
            return self.emit(ops.call, (args[0], *args[1:]), node, name="%called")
        if kind in JACOBIANS and callable(function):
            made = self.jacobian(kind, [self.remembered(function, node), *args[1:]], keywords, node)
            return self.remember(made, node)
        if isinstance(function, Nested) and function.order > HIGHEST:
            raise self.unsupported(node, f"derivatives of more than order {HIGHEST}", "differentiate the result")
        if not isinstance(function, (types.FunctionType, Closure, Nested)) and not (
            isinstance(function, Bound) and not isinstance(function.function, Nested)
        ):
            raise self.unsupported(node, f"`{kind}` of something that is not known when compiling",
                                   "give it a function by its name, or a lambda")  # fmt: skip
        if kind == "vjp":
            primals = [self.apart(a, node) for a in args[1:]]
            value = self.invoke(function, [self.apart(a, node) for a in args[1:]], [], node, None)
            wrt = tuple(range(len(primals)))
            if isinstance(function, (Closure, Bound)):  # what it reads now is what the pullback reads
                primals = self.with_defaults(Nested(function, "adjoint", wrt), primals, {}, node)
                function, captured = lift(function)
                primals += [self.apart(a, node) for a in captured.values()]
            pullback = self.remember(Bound(Nested(function, "adjoint", wrt), tuple(primals)), node)
            return self.emit(ops.make_tuple, (self.apart(value, node), pullback), node)
        if kind == "vmap":
            axes = self.options(kind, {"in_axes": 0, "out_axes": 0}, args, keywords, node)
            return self.remember(Nested(function, kind, (*axes, 0)), node)
        return self.remember(
            Nested(function, kind, *self.options(kind, {"wrt": 0, "has_aux": False}, args, keywords, node)), node
        )

    def options(self, kind: str, defaults: dict[str, Any], args: list, keywords: list, node: Any) -> list[Any]:
        """The values of what is said beside the function of which something is taken."""
        given = {k: Const(v) for k, v in defaults.items()} | dict(zip(defaults, args[1:])) | dict(keywords)
        known = {
            name: self.option(atom, f"the `{name}` of `{kind}` inside a function", node) for name, atom in given.items()
        }
        if set(known) - set(defaults) or len(args) > 3:
            raise self.unsupported(node, f"arguments of `{kind}` inside a function that it does not have",
                                   f"give it the function, {' and '.join(defaults)}")  # fmt: skip
        return [known[name] for name in defaults]

    def jacobian(self, kind: str, args: list, keywords: list, node: Any) -> Bound:
        """``jacobian(f)``: the loop over the columns or rows that it is."""
        wrt = (dict(zip(("wrt",), args[1:], strict=False)) | dict(keywords)).get("wrt", Const(0))
        what = f"the `wrt` of `{kind}` inside a function"
        position = self.option(wrt, what, node)
        if not isinstance(position, int) or position < 0:
            raise self.unsupported(node, what, "give the position of one argument")
        return Bound(INSIDE[kind], (args[0], Const(position)))

    def function_of(self, atom: Atom, node: Any) -> Any:
        """The function that an atom stands for, so that its derivative can be taken; None if it is not known."""
        value: Any = atom.value if isinstance(atom, Const) else None
        if isinstance(atom, Global) and "__call__" in dir(cls := type(atom.lookup())):
            return Bound(cls.__call__, (atom,), cls=cls)  # an object that is called
        if isinstance(atom, str):
            t = self.type_known(atom)
            cls = self.class_of(atom, node, CALLED)
            if cls is not None and issubclass(cls, Environment):
                value = self.from_environment(atom, cls, node)
            elif cls is not None:
                kind, found, owner = found_in_class(cls, "__call__")
                value = Bound(found, (atom,), cls=owner) if kind == "method" else None
            elif isinstance(t, Known) and callable(t.value):
                value = self.whichever(t.value, atom, node)
            elif (found := self.told(function_in, atom)) is not None:
                self.assume("callees", self.span(node).site, (found, None), node, atom)
                value = self.current(found, node)
        if isinstance(atom, str) and (state := made_in(value)) != tuple(self.loops[: len(state)]):
            self.keep(value, node)  # it was made in another trip
            return None
        value = in_python(undecorated(value))
        if isinstance(value, Made):
            return Nested.of(value)
        if callable(value) and not isinstance(value, (types.FunctionType, Closure, Nested, Bound, type)):
            return python_function(value, "inside") if is_known(value) else value
        return value

    def remembered(self, function: Any, node: Any) -> Atom:
        return self.remember(function, node) if isinstance(function, Bound) else Const(function)

    def jvp_call(self, node: Any) -> Atom | None:
        """``jvp(f, (x,), (v,))`` and ``hvp(f, (x,), (v,))``, whose tuples have a known length."""
        if len(node.args) != 3 or node.keywords:
            raise self.unsupported(node, "`jvp` without its three arguments", "write jvp(f, (x,), (v,))")
        callee = self.expression(node.func)
        function = self.expression(node.args[0])
        primals, tangents = map(self.items_of, node.args[1:])
        if any(map(is_spread, (*primals, *tangents))):
            return self.emit(ops.call, (Const(None), *primals, *tangents), node, name="%called")
        still = self.still(primals, tangents)
        moving = tuple(i for i, t in enumerate(tangents) if t != Const(None) and i not in still)
        for i in self.doubtful(moving, tangents):
            tangents[i] = self.emit(runtime.or_zero, (tangents[i], primals[i]), node)
        base = self.differentiation(_gradient if callee.value.__name__ == "hvp" else _plain, [function], [], node)
        if not isinstance(base, Const):  # the function is not known yet
            return base
        inner: Any = base.value if callee.value.__name__ == "hvp" else base.value.function  # type: ignore[union-attr]
        given = [*primals, *(self.apart(tangents[i], node) for i in moving)]
        result = self.nested(Nested(inner, "jvp", moving), given, [], node, None)
        if callee.value.__name__ == "hvp":
            return self.emit(operator.getitem, (result, Const(1)), node)
        return result

    def still(self, primals: list[Atom], tangents: list[Atom]) -> frozenset[int]:
        """The arguments that do not move, as far as is known here."""
        return frozenset(
            k for k, (x, v) in enumerate(zip(primals, tangents, strict=False))
            if self.state.of(v) == Known(Const(None))
            or (t := self.state.seen(x)) is not None and not is_differentiable(t)
        )  # fmt: skip

    def doubtful(self, moving: tuple[int, ...], tangents: list[Atom]) -> tuple[int, ...]:
        """The arguments whose tangent may be None."""
        return tuple(k for k in moving if isinstance(self.state.of(tangents[k]), Optional))

    def items_of(self, node: Any) -> list[Atom]:
        """The items of a tuple, written out or not."""
        if isinstance(node, (gast.Tuple, gast.List)) and not any(isinstance(e, gast.Starred) for e in node.elts):
            return [self.expression(e) for e in node.elts]
        if isinstance(node, gast.Call) and getattr(node.func, "id", "") in ("tuple", "list") and len(node.args) == 1:
            node = node.args[0]
        return list(self.starred(gast.copy_location(gast.Starred(node, gast.Load()), node)))


def _gradient() -> None:
    """Stands for `tangentc.grad`."""


def _plain() -> None:
    """Stands for a function whose derivative is not taken yet."""


_gradient.__tangentc_kind__ = "grad"  # type: ignore[attr-defined]
_plain.__tangentc_kind__ = "plain"  # type: ignore[attr-defined]
