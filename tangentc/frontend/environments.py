"""Functions that are made in one trip of a loop and called after it.

    fs = []
    for k in range(n):                              for k in range(n):
        w = np.sin(k * x)                               w = np.sin(k * x)
        fs.append(lambda y, w=w: y * w)                 fs.append(SimpleNamespace(w=w))
    for f in fs:                                    for f in fs:
        y = f(y)                                        y = y * f.w

What such a function holds of its trip, its default values and the variables of the call that it was made
in, is kept in an object, its environment; where the function is called, its text is lowered with these.
"""

from __future__ import annotations

import builtins
import types as pytypes
from collections import Counter
from typing import Any

import gast

from tangentc.analysis.points import DESCRIPTORS
from tangentc.core import ops
from tangentc.core.nodes import Atom, Const
from tangentc.frontend.activation import Activation, Bound, Closure, declared, locals_of
from tangentc.frontend.nested import Nested
from tangentc.frontend.part import Part
from tangentc.frontend.trees import walk

MADE_IN_A_TRIP = "a derivative that was made in one trip of a loop and is called after it"


class Environment(pytypes.SimpleNamespace):
    """What a function of one trip holds; a class for each place that makes such functions."""

    key: Any = None

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        raise NotImplementedError(type(self).__name__)


class Environments(Part):
    """The part of lowering that knows functions of one trip."""

    def remember(self, made: Any, node: Any) -> Atom:
        """A callable that is made here; typing knows it from the lowering before, under its key."""
        made.key = type(made).__name__, getattr(made, "__name__", ""), self.span(node).site
        self.made[made.key] = made
        made.state = tuple(self.loops) if self.held(made) else ()
        cls = self.known.environments.get(made.key)
        if cls is None:
            return Const(made)
        held = self.held(made)
        return self.emit(ops.make_struct, (Const(cls), Const(tuple(held)), *held.values()), node, name="%environment")

    def held(self, made: Any) -> dict[str, Atom]:
        """What a callable holds of the trip that it is made in, by the names of its environment."""
        if isinstance(made, Nested):
            return self.held(made.function)
        if isinstance(made, Bound):
            named = [*((f"_{k}", a) for k, a in enumerate(made.args)), *made.keywords]
            return {n: a for n, a in named if isinstance(a, str)} if self.loops else {}
        if not isinstance(made, Closure) or not self.loops:
            return {}
        held: dict[str, Atom] = {n: a for n, a in made.defaults.items() if isinstance(a, str)}
        for name, home in self.homes(made).items():
            if home.loops and name not in home.constants:
                held[name] = home.variable(name)
        return held

    def homes(self, closure: Closure) -> dict[str, Activation]:
        """The activations that the names of a closure lead to, its own names left out."""
        own = set(locals_of(closure.node)) - declared_in(closure.node)
        found = {}
        for n in walk(closure.node):
            if isinstance(n, gast.Name) and n.id not in own and (home := closure.home.home(n.id)) is not None:
                found[n.id] = home
        return found

    def keep(self, made: Any, node: Any) -> None:
        """Let a callable that is called after its trip have an environment from the next lowering on."""
        if isinstance(made, Bound) and isinstance(made.function, DESCRIPTORS):
            raise self.unsupported(
                node, f"the method {made.__name__}, which got its name in one trip of a loop and is called after it",
                "call the method where it is, or define a function that does",
            )  # fmt: skip
        assigned = declared_in(made.node) if isinstance(made, Closure) else set()
        several = [
            n for n, home in (self.homes(made) if isinstance(made, Closure) else {}).items()
            if home.loops and n not in home.constants and (home.local[n] > 1 or n in assigned)
        ]  # fmt: skip
        if several:
            raise self.unsupported(
                node, f"a function that was made in a trip of a loop and is called after it, and whose {several[0]}"
                " is assigned more than once", "call it in the trip that makes it, or give it the value as a default",
            )  # fmt: skip
        self.known.environments.setdefault(made.key, type(made.__name__, (Environment,), {"key": made.key}))

    def call_environment(self, base: Atom, cls: Any, args: list, keywords: list, node: Any, target: str | None) -> Atom:
        """Call a function by its environment."""
        function = self.from_environment(base, cls, node)
        if isinstance(function, Bound):
            return self.invoke(function, args, keywords, node, target)
        home, made = function.home, self.made[cls.key]
        activation = self.begin(home.source, home.scope, function.node, home, made, None, self.span(node))
        return self.inline(activation, function.node, function.defaults, args, keywords, node, function.__name__)

    def from_environment(self, base: Atom, cls: Any, node: Any) -> Closure | Bound:
        """The function that an environment is of, with what that holds."""
        made = self.made.get(cls.key)
        if made is None:  # it is made in the function that calls this one
            raise self.unsupported(node, "a function that is made later", "define it before it is called")

        def of(name: str, atom: Atom) -> Atom:
            if not isinstance(atom, str):
                return atom
            return self.emit(builtins.getattr, (base, Const(name)), node, name=f"%{name.strip('_')}")

        if isinstance(made, Bound):
            first = tuple(of(f"_{k}", a) for k, a in enumerate(made.args))
            return Bound(made.function, first, tuple((n, of(n, a)) for n, a in made.keywords), made.cls)
        if isinstance(made, Nested):
            raise self.unsupported(node, MADE_IN_A_TRIP, "call it in the trip that makes it")
        homes = {n: h for n, h in self.homes(made).items() if h.loops}
        outer: Activation | None = made.home
        while outer is not None and outer.loops:
            outer = outer.outer
        self.activations += 1
        home = Activation(
            made.home.source, made.home.scope, Counter(dict.fromkeys(homes, 1)), outer, self.activations,
            (*self.activation.path, self.span(node).site), tuple(self.loops), None, made.home.cls,
        )  # fmt: skip
        for name, was in homes.items():
            if name in was.constants:
                home.constants[name] = was.constants[name]
                continue
            value = of(name, was.variable(name))
            self.emit(ops.identity, (value,), node, target=home.variable(name))
        return Closure(made.node, home, {n: of(n, a) for n, a in made.defaults.items()})


def declared_in(node: Any) -> set[str]:
    """The names that a function declares ``nonlocal``."""
    return declared(node.body, gast.Nonlocal) if isinstance(node.body, list) else set()
