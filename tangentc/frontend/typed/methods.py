"""Methods as the functions that they are, by the type of their object.

x.sum(axis=1)      np.sum(x, axis=1)"""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, Effect, Statement, Store
from tangentc.core.types import (
    Array,
    Dict,
    Scalar,
    Sequence,
    Struct,
    Tuple,
    Type,
    Unknown,
    is_complex,
    is_generator,
    is_set,
)
from tangentc.core.values import type_of
from tangentc.core.walk import statements
from tangentc.errors import UnsafeMutation
from tangentc.frontend.into import place_of_out
from tangentc.frontend.typed.arrays import ALONG_AXES
from tangentc.frontend.typed.meaning import Part, means, plain
from tangentc.ops import methods

MUTATORS = methods.names(changes=True)
SPREAD = {"reshape": 1, "transpose": 1}


class Methods(Part):
    """What methods mean."""

    def shuffles(self, s: Assign | Effect) -> bool:
        """Whether this is a generator's or a module's ``shuffle``, and not a function of the user's."""
        if s.op is not ops.method:
            return getattr(s.op, "__name__", "") == "shuffle" and ops.module_root(s.op) in ("numpy", "random", "")
        return s.args[1] == Const("shuffle") and not isinstance(self.types.of(s.args[0]), Struct)

    def shuffled(self, s: Assign | Effect) -> tuple[Statement, ...]:
        """``rng.shuffle(a)`` of an array: a generator draws for it what it draws for the order of its rows, ``order =
        rng.permutation(len(a)); a[...] = a[order]``."""
        array = s.args[-1]
        known = is_generator(self.types.of(s.args[0])) if s.op is ops.method else s.op == np.random.shuffle
        one = len(s.args) == (3 if s.op is ops.method else 1) and not s.keywords
        if not (known and one and isinstance(array, str) and isinstance(self.types.of(array), Array)):
            raise UnsafeMutation(
                f"{self.function.name} shuffles in place", s.span,
                why="where each item goes is not known outside of NumPy",
                way_out="draw the order, i = rng.permutation(len(a)), and take a[i]",
            )  # fmt: skip
        length, order, rows = map(self.fresh, ("%length", "order", "%rows"))
        op: Any = s.op if s.op is ops.method else np.random.permutation
        args = (s.args[0], Const("permutation"), length) if s.op is ops.method else (length,)
        nothing = (Assign(s.target, ops.identity, (Const(None),), (), s.span),) if isinstance(s, Assign) else ()
        return (
            Assign(length, builtins.len, (array,), (), s.span),
            Assign(order, op, args, (), s.span),
            Assign(rows, operator.getitem, (array, order), (), s.span),
            Store(array, Const(...), rows, None, s.span),
            *nothing,
        )

    @means(ops.method)
    def called_method(self, s: Assign) -> tuple[Statement, ...]:
        return tuple(r for made in self.method(s) for r in self.again(made))

    def again(self, s: Statement) -> tuple[Statement, ...]:
        """What a method turned out to be: a function, with an ``out`` perhaps."""
        return self.statement(s) if isinstance(s, (Assign, Effect)) and "out" in dict(s.keywords) else (s,)

    def effect(self, s: Effect) -> tuple[Statement, ...]:
        receiver, name, args = s.args[0], s.args[1].value, s.args[2:]  # type: ignore[union-attr]
        t = self.types.of(receiver)
        if isinstance(t, Array):
            functions = {"fill": np.copyto, "sort": np.sort, "put": np.put}
            if name in functions:
                return self.in_place(s, functions[name], (receiver, *args), dict(s.keywords))
            if name not in MUTATORS:
                function = methods.function_of(name)
                place = place_of_out(function) if function is not None else None
                if function is not None and ("out" in dict(s.keywords) or place is not None and len(args) >= place):
                    return self.statement(replace(s, op=function, args=(receiver, *args)))  # type: ignore[arg-type]
                return ()
        elif isinstance(t, (Sequence, Dict)) and isinstance(receiver, str):
            return self.list_method(s, receiver, t, name, args)
        elif not isinstance(t, Unknown) or name not in MUTATORS or is_set(t):
            return (s,)
        raise UnsafeMutation(
            f"{self.function.name} changes {plain(receiver)} by its method {name}", s.span,
            why=f"the type of {plain(receiver)} is not known" if isinstance(t, Unknown) else "it has no adjoint",
            way_out="use a function of NumPy that gives a new array",
        )  # fmt: skip

    def method(self, s: Assign) -> tuple[Statement, ...]:
        receiver, name, args = s.args[0], s.args[1].value, s.args[2:]  # type: ignore[union-attr]
        t = self.types.of(receiver)
        if isinstance(t, (Sequence, Dict)) and name == "pop" and isinstance(receiver, str):
            return (replace(s, op=ops.take, args=(receiver, *args)),)
        if isinstance(t, (Sequence, Dict)) and name == "copy" and not args:
            op: Any = builtins.list if isinstance(t, Sequence) and t.kind is list else builtins.dict
            return (replace(s, op=op, args=(receiver,)),)
        if isinstance(t, Dict) and name in ("get", "setdefault"):
            return self.get(s, receiver, t, name, args)
        if isinstance(t, Dict) and name in ("items", "values", "keys") and not args:
            return self.dict_view(s, receiver, t, name)
        if isinstance(t, (Array, Scalar)) and not (isinstance(t, Scalar) and t.dtype.startswith("str")):
            return self.array_method(s, receiver, t, name, args)
        return (s,)

    def array_method(
        self, s: Assign, receiver: Atom, t: Array | Scalar, name: str, args: tuple[Atom, ...]
    ) -> tuple[Statement, ...]:
        """A method of an array or of a number."""
        function = methods.function_of(name)
        if name in MUTATORS:
            changed = self.effect(Effect(s.op, s.args, s.keywords, s.span))
            return (*changed, replace(s, op=ops.identity, args=(Const(None),), keywords=()))
        if name == "flatten":
            copied = self.fresh("%copy")
            made = Assign(copied, np.copy, (receiver,), (), s.span)
            return (made, replace(s, op=np.ravel, args=(copied, *args)))
        if name == "compress":
            return (replace(s, op=np.compress, args=(*args[:1], receiver, *args[1:])),)
        if name == "tolist" and isinstance(t, Scalar):
            return (replace(s, op=ops.item, args=(receiver,)),)
        if name == "item" and args:
            return self.entry(s, receiver, args)
        if name == "view" and not args and not s.keywords:
            return (replace(s, op=operator.getitem, args=(receiver, Const(...))),)
        if name in ("conj", "conjugate") and not is_complex(t):
            return (replace(s, op=ops.identity, args=(receiver,), keywords=()),)  # the array itself
        if name == "astype" and (cast := self.recast(s, receiver, t, args)) is not None:
            return cast
        if function is None or name == "astype" and not hasattr(np, "astype"):
            return (s,)
        if name in SPREAD and len(args) > 1:
            key: Atom = self.fresh("%shape")
            made = Assign(str(key), ops.make_tuple, args, (), s.span)
            if all(isinstance(a, Const) for a in args):
                key = Const(tuple(a.value for a in args))  # type: ignore[union-attr]
            spread = replace(s, op=function, args=(receiver, key))  # type: ignore[arg-type]
            return (spread,) if isinstance(key, Const) else (made, spread)
        called = replace(s, op=function, args=(receiver, *args))  # type: ignore[arg-type]
        return (function in ALONG_AXES and self.reduction(called)) or (called,)

    def entry(self, s: Assign, receiver: Atom, args: tuple[Atom, ...]) -> tuple[Statement, ...]:
        """``x.item(k)`` counts through all axes, ``x.item(i, j)`` and ``x.item((i, j))`` along each."""
        flat, key, entry = self.fresh("%flat"), self.fresh("%key"), self.fresh("%entry")
        of_tuple = type_of(args[0].value) if isinstance(args[0], Const) else self.types.of(args[0])
        before: tuple[Statement, ...] = ()
        taken: tuple[Atom, Atom] = (receiver, args[0])
        if len(args) > 1:
            taken, before = (receiver, key), (Assign(key, ops.make_tuple, args, (), s.span),)
        elif not isinstance(of_tuple, Tuple):
            taken, before = (flat, args[0]), (Assign(flat, np.ravel, (receiver,), (), s.span),)
        return (*before, Assign(entry, operator.getitem, taken, (), s.span), replace(s, op=ops.item, args=(entry,)))

    def recast(self, s: Assign, receiver: Atom, t: Type, args: tuple[Atom, ...]) -> tuple[Statement, ...] | None:
        """``x.astype(dtype, copy=...)``: a copy, or the array itself where it has the dtype and none is asked for."""
        given = dict(s.keywords)
        wanted = given.pop("copy", None)
        if not isinstance(wanted, Const) or given or len(args) != 1 or not isinstance(args[0], Const):
            return None
        if not wanted.value and isinstance(t, Array) and np.dtype(args[0].value) == np.dtype(t.dtype):
            return (replace(s, op=ops.identity, args=(receiver,), keywords=()),)
        return self.method(replace(s, keywords=()))

    def get(self, s: Assign, receiver: Atom, t: Dict, name: str, args: tuple[Atom, ...]) -> tuple[Statement, ...]:
        """``d.get(key, default)`` where the keys are known."""
        key = args[0]
        default: Atom = args[1] if len(args) > 1 else Const(None)
        if not isinstance(key, Const):
            return (s,)
        if key.value in t.keys:
            op = operator.getitem if len(args) > 1 else ops.old_item  # type: ignore[assignment]
            return (replace(s, op=op, args=(receiver, key)),)
        if name == "setdefault" and isinstance(receiver, str):
            return (Store(receiver, key, default, None, s.span), replace(s, op=ops.identity, args=(default,)))
        return (replace(s, op=ops.identity, args=(default,)),)

    def dict_view(self, s: Assign, receiver: Atom, t: Dict, name: str) -> tuple[Statement, ...]:
        if any(isinstance(x, (Assign, Effect)) and x.op in (ops.take, ops.method) and x.args[0] == receiver
               and (x.op is ops.take or x.args[1].value in ("pop", "popitem", "clear"))  # type: ignore[union-attr]
               for x in statements(self.function.body)):  # fmt: skip
            raise UnsafeMutation(
                f"{plain(receiver)} loses a key and is looped over", s.span,
                why="which keys it has must be known when compiling",
                way_out="make a new dict with the keys that are meant",
            )  # fmt: skip
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
