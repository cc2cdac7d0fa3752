"""What a statement means once the types are known.

x.sum(axis=1)                ->   np.sum(x, axis=1)
total += d     (a float)     ->   total.1 = total + d
h += b         (an array)    ->   h.1 = h + b            where no other name sees h
u += b         (seen by v)   ->   u += b                 in place
for row in A:  (floats)      ->   for i in range(len(A)): row = A[i]
"""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc.analysis.aliases import Aliases
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, Effect, For, Function, Global, Statement, Store
from tangentc.core.types import Array, Dict, Scalar, Sequence, Tuple, Unknown, is_differentiable
from tangentc.core.walk import definitions, substitute_block, transform
from tangentc.errors import UnsafeMutation, UnsupportedSyntax

SPREAD = {"reshape": 1, "transpose": 1}
FUNCTIONS = {"flatten": np.ravel, "conj": np.conjugate, "item": ops.item}
MUTATORS = {
    "append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "popitem", "add", "discard",
    "fill", "sort", "put", "resize", "partition", "setfield", "byteswap", "reverse", "itemset",
}  # fmt: skip


def specialise(function: Function, types: Any, names: Any) -> Function:
    """The function with methods, augmented assignments and loops resolved by type.

    ``names`` makes fresh names.
    """
    return _Specialise(function, types, names).run()


class _Specialise:
    def __init__(self, function: Function, types: Any, names: Any):
        self.function, self.types, self.fresh = function, types, names
        self.aliases: Aliases | None = None
        self.definitions = definitions(function.body)
        self.same: dict[str, str] = {}

    def run(self) -> Function:
        body = transform(self.function.body, self.statement)
        body = substitute_block(body, self._resolved())
        result = self.function.result
        if isinstance(result, str):
            result = self._resolved().get(result, result)
        return replace(self.function, body=body, result=result)

    def _resolved(self) -> dict[str, str]:
        out = {}
        for name, target in self.same.items():
            while target in self.same:
                target = self.same[target]
            out[name] = target
        return out

    def statement(self, s: Statement) -> tuple[Statement, ...]:
        match s:
            case Assign(op=ops.augmented() as op):
                return self._augmented(s, op.op)
            case Assign() if s.op is ops.method:
                return self._method(s)
            case Assign() if s.op is builtins.getattr and s.args[1] == Const("T"):
                return (replace(s, op=np.transpose, args=s.args[:1]),)
            case Effect() if s.op is ops.method and s.args[1].value in MUTATORS:  # type: ignore[union-attr]
                raise UnsupportedSyntax(
                    f"{self.function.name} changes a list, dict or array by its method {s.args[1].value}",  # type: ignore[union-attr]
                    s.span,
                    why="only `a[i] = ...` and augmented assignment are followed through aliases yet",
                    way_out="build a new value, or write into an array by subscript",
                )
            case For():
                return self._loop(s)
        return (s,)

    # ---------------------------------------------------------- x op= y
    def _augmented(self, s: Assign, op: Any) -> tuple[Statement, ...]:
        x = s.args[0]
        t = self.types.of(x)
        if isinstance(t, Scalar):
            return (replace(s, op=op),)
        if isinstance(t, Unknown):
            raise UnsafeMutation(
                f"whether `{s.span.text.strip()}` changes an array or rebinds a name is not known",
                s.span,
                why=f"the type of {_plain(x)} is not known" + (f": {t.reason}" if t.reason else ""),
                way_out=f"write {_plain(x)} = {_plain(x)} + ..., or call the function with arguments of known types",
            )
        if not isinstance(t, Array):
            raise UnsupportedSyntax(
                f"{self.function.name} changes a list in place, which tangentc does not differentiate yet", s.span,
                why="lists that grow are not followed yet", way_out="build a new list",
            )  # fmt: skip
        result = self.types.result(op, s.args)
        assert isinstance(x, str)
        if result == t and self._unshared(x):
            return (replace(s, op=op),)
        self.same[s.target] = x
        if op in (operator.add, operator.sub):
            return (Store(x, None, s.args[1], op, s.span),)
        value = self.fresh("%rhs")
        return (Assign(value, op, s.args, (), s.span), Store(x, Const(...), value, None, s.span))

    def _unshared(self, x: str) -> bool:
        """Whether no other name can see the memory of ``x``, so that a new array does as well."""
        if self.aliases is None:
            self.aliases = Aliases(_without_augmented(self.function), self.types)
            self.classes: dict[str, set[str]] = {}
            for name in self.types.of_name:
                self.classes.setdefault(self.aliases.root(name), set()).add(name)
        members = self.classes[self.aliases.root(x)]
        if self.aliases.is_changed(x) or any(p.name in members for p in self.function.params):
            return False
        return all(_versions_of_one(name, x) for name in members)

    # ---------------------------------------------------------- methods
    def _method(self, s: Assign) -> tuple[Statement, ...]:
        receiver, name, args = s.args[0], s.args[1].value, s.args[2:]  # type: ignore[union-attr]
        t = self.types.of(receiver)
        if isinstance(t, (Array, Scalar)):
            if name in MUTATORS:
                raise UnsafeMutation(
                    f"{self.function.name} changes an array by its method {name}", s.span,
                    why="only `a[i] = ...` and augmented assignment are followed through aliases yet",
                    way_out="use the function of NumPy that gives a new array",
                )  # fmt: skip
            function = FUNCTIONS.get(name) or getattr(np, name, None)
            if function is None or name == "astype" and not hasattr(np, "astype"):
                return (s,)
            if name in SPREAD and len(args) > 1:
                if all(isinstance(a, Const) for a in args):
                    return (replace(s, op=function, args=(receiver, Const(tuple(a.value for a in args)))),)  # type: ignore[arg-type,union-attr]
                key = self.fresh("%shape")
                return (
                    Assign(key, ops.make_tuple, args, (), s.span),
                    replace(s, op=function, args=(receiver, key)),  # type: ignore[arg-type]
                )
            return (replace(s, op=function, args=(receiver, *args)),)  # type: ignore[arg-type]
        if isinstance(t, Dict) and name in ("items", "values", "keys") and not args:
            return self._dict_view(s, receiver, t, name)
        return (s,)

    def _dict_view(self, s: Assign, receiver: Atom, t: Dict, name: str) -> tuple[Statement, ...]:
        out: list[Statement] = []
        items: list[Atom] = []
        for key in t.keys:
            if name == "keys":
                items.append(Const(key))
                continue
            value = self.fresh(f"%{key}")
            out.append(Assign(value, operator.getitem, (receiver, Const(key)), (), s.span))
            if name == "items":
                pair = self.fresh("%pair")
                out.append(Assign(pair, ops.make_tuple, (Const(key), value), (), s.span))
                value = pair
            items.append(value)
        return (*out, replace(s, op=ops.make_list, args=tuple(items)))

    # ---------------------------------------------------------- loops over what may be differentiated
    def _loop(self, s: For) -> tuple[Statement, ...]:
        sources = self._sources(s.iterable)
        if sources is None or not any(is_differentiable(self.types.of(a)) for a in sources[1]):
            return (s,)
        kind, atoms, start = sources
        head: list[Statement] = []
        lengths: list[Atom] = []
        for atom in atoms:
            length = self.fresh("%length")
            head.append(Assign(length, builtins.len, (atom,), (), s.span))
            lengths.append(length)
        if len(set(atoms)) > 1:
            shortest = self.fresh("%length")
            head.append(Assign(shortest, builtins.min, tuple(lengths), (), s.span))
            lengths = [shortest]
        trips = self.fresh("%trips")
        head.append(Assign(trips, builtins.range, (lengths[0],), (), s.span))
        index = self.fresh(f"%{_plain(s.target).rstrip('_')}_index" if not s.target.startswith("%") else "%index")
        take: list[Statement] = []
        position: Atom = index
        if kind == "reversed":
            last = self.fresh("%last")
            position = self.fresh("%position")
            take += [
                Assign(last, operator.sub, (lengths[0], Const(1)), (), s.span),
                Assign(position, operator.sub, (last, index), (), s.span),  # type: ignore[arg-type]
            ]
        parts: list[Atom] = []
        for atom in atoms:
            single = kind in ("plain", "reversed")
            item = s.target if single else self.fresh(f"%{_plain(atom)}_item")
            take.append(Assign(item, operator.getitem, (atom, position), (), s.span))
            parts.append(item)
        if kind == "enumerate":
            counted: Atom = index
            if start != Const(0):
                counted = self.fresh("%count")
                take.append(Assign(counted, operator.add, (index, start), (), s.span))  # type: ignore[arg-type]
            parts.insert(0, counted)
        if kind in ("enumerate", "zip"):
            take.append(Assign(s.target, ops.make_tuple, tuple(parts), (), s.span))
        return (*head, replace(s, target=index, iterable=trips, body=(*take, *s.body)))

    def _is_iterator(self, atom: Atom) -> bool:
        made = self.definitions.get(atom) if isinstance(atom, str) else None
        return isinstance(made, Assign) and made.op in (builtins.enumerate, builtins.zip, builtins.reversed)

    def _sources(self, iterable: Atom) -> tuple[str, list[Atom], Atom] | None:
        """How a loop's iterable is made: its kind, the sequences in it, and where an enumerate starts."""
        made = self.definitions.get(iterable) if isinstance(iterable, str) else None
        if isinstance(made, Assign) and made.op in (builtins.enumerate, builtins.zip, builtins.reversed):
            start: Atom = made.args[1] if len(made.args) > 1 else dict(made.keywords).get("start", Const(0))
            atoms = list(made.args if made.op is builtins.zip else made.args[:1])
            if all(isinstance(self.types.of(a), (Array, Sequence, Tuple)) and not self._is_iterator(a) for a in atoms):
                return made.op.__name__, atoms, start
            return None
        if isinstance(self.types.of(iterable), (Array, Sequence, Tuple)) and not self._is_iterator(iterable):
            return "plain", [iterable], Const(0)
        return None


def _plain(atom: Atom) -> str:
    if isinstance(atom, Global):
        return atom.name
    return atom.lstrip("%").split(".")[0] if isinstance(atom, str) else "value"


def _versions_of_one(name: str, x: str) -> bool:
    return _plain(name) == _plain(x) and name.startswith("%") == x.startswith("%")


def _without_augmented(function: Function) -> Function:
    """For the question of aliases: an augmented assignment gives another name for its operand."""

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, Assign) and isinstance(s.op, ops.augmented):
            return (replace(s, op=ops.identity, args=s.args[:1]),)
        return (s,)

    return replace(function, body=transform(function.body, rewrite))
