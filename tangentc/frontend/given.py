"""What a call is given: arguments, also starred ones, and the parameters that they become."""

from __future__ import annotations

import builtins
import dataclasses
import functools
import inspect
import operator
import types
from typing import Any

import gast
import numpy as np

from tangentc.core import ops
from tangentc.core.inside import Made
from tangentc.core.nodes import Assign, Atom, Const, Global, Place
from tangentc.core.resolve import is_static
from tangentc.core.types import Dict, Known, Tuple
from tangentc.core.values import is_object
from tangentc.errors import UnsupportedSyntax
from tangentc.frontend import prelude
from tangentc.frontend.activation import Activation, Bound, Closure, is_only_read
from tangentc.frontend.callables import is_user_function
from tangentc.frontend.nested import Nested, own_parameters
from tangentc.frontend.part import Part
from tangentc.frontend.questions import answer_of, keys_in, length_in
from tangentc.frontend.source import Quoted


class Given(Part):
    """The part of lowering that knows arguments and parameters."""

    def arguments(self, node: Any, of_zip: bool = False) -> tuple[list[Atom], list[tuple[str, Atom]]]:
        args: list[Atom] = []
        for a in node.args:
            args.extend(self.starred(a, of_zip) if isinstance(a, gast.Starred) else (self.expression(a),))
        keywords: list[tuple[str, Atom]] = []
        for k in node.keywords:
            if k.arg is None:
                keywords.extend(self.double_starred(k.value).items())
            else:
                keywords.append((k.arg, self.expression(k.value)))
        return args, keywords

    def starred(self, node: Any, of_zip: bool = False) -> tuple[Atom, ...]:
        """The items of ``*x``; rows that are zipped may be any number, where they are put together (`columns`)."""
        self.want_items(node.value)
        if isinstance(node.value, gast.Name):
            home = self.activation.home(node.value.id)
            found = home.static.get(node.value.id) if home is not None else None
            if isinstance(found, tuple):
                return found
        atom = self.expression(node.value)
        if isinstance(atom, Const) and isinstance(atom.value, (tuple, list, range)):
            return tuple(Const(v) for v in atom.value)
        made = self.definition(atom)
        if made is not None and made.op is builtins.range and all(isinstance(a, Const) for a in made.args):
            return tuple(Const(k) for k in range(*(a.value for a in made.args)))  # type: ignore[union-attr]
        site = self.span(node).site
        t = self.type_known(atom)
        rows = of_zip and answer_of(ops.spread, self.state.of(atom)) is not None
        length = len(t.items) if isinstance(t, Tuple) else self.told(length_in, atom)
        length = None if rows else length
        if not isinstance(t, Tuple) and length is not None:
            self.assume("lengths", site, length, node, atom)
        if length is None:
            made = self.asks.made(atom)
            self.known.counted |= self.growing.get(made.target, set()) if made is not None else set()
            return (self.emit(ops.spread, (atom,), node, name="%_spread_"),)
        return tuple(self.emit(operator.getitem, (atom, Const(k)), node.value) for k in range(length))

    def want_items(self, node: Any) -> None:
        """A comprehension is written out if it can be, where it counts how many items it gives."""
        if isinstance(node, (gast.ListComp, gast.GeneratorExp)):
            self.known.wanted.update(self.span(g.iter).site for g in node.generators)

    def columns(self, rows: Atom, node: Any) -> Atom | None:
        """``zip(*rows)`` of a list of tuples, as many as there are: a tuple for each item that they have."""
        made = self.definition(rows)
        if made is None or made.op is not ops.spread:
            return None
        self.out.pop()
        atom, site = made.args[0], (ops.spread, made.span.site)  # type: ignore[union-attr]
        count = self.told(functools.partial(answer_of, ops.spread), atom)
        if count is None:
            self.add(dataclasses.replace(made, args=(atom, Const(builtins.zip))))
            return None
        self.assume("answers", site, (ops.spread, count), node, atom)
        columns = [self.invoke(prelude.column, [atom, Const(k)], [], node, None) for k in range(count)]
        return self.emit(ops.make_tuple, tuple(columns), node)

    def double_starred(self, node: Any) -> dict[str, Atom]:
        """The entries of ``**x``."""
        if isinstance(node, gast.Name):
            home = self.activation.home(node.id)
            found = home.static.get(node.id) if home is not None else None
            if isinstance(found, dict):
                return dict(found)
        atom = self.expression(node)
        t = self.type_known(atom)
        site = self.span(node).site
        keys = t.keys if isinstance(t, Dict) else self.told(keys_in, atom)
        if not isinstance(t, Dict) and keys is not None:
            self.assume("keys", site, keys, node, atom)
        if keys is None:
            return {"%_spread_": self.emit(ops.spread, (atom,), node, name="%_spread_")}
        return {k: self.item_of(atom, k) or self.entry_of(atom, k, t, node) for k in keys}

    def entry_of(self, atom: Atom, key: str, t: Any, node: Any) -> Atom:
        """The entry of a dict under a key, which may be an option."""
        held = t.items[t.keys.index(key)] if isinstance(t, Dict) else None
        if isinstance(held, Known) and is_option(held.value):
            return held.const
        return self.emit(operator.getitem, (atom, Const(key)), node)

    def item_of(self, atom: Atom, key: str) -> Const | None:
        """What a dict of the module or of a closure holds under a key, if it says how something is computed: the code
        is good while it does."""
        held = atom.lookup() if isinstance(atom, Global) else None
        if not isinstance(held, dict) or not is_option(held.get(key, 0.0)):
            return None
        place = Place("item", held)
        self.places[place, key] = place
        return Const(held[key])

    def frozen(self, atom: Atom) -> Atom:
        """What was written out, as the constant that it is: ``axes=[[0], [1]]``, ``np.inf``."""
        made = next((s for s in reversed(self.out) if isinstance(s, Assign) and s.target == atom), None)
        if made is not None and made.op is builtins.getattr and isinstance(made.args[0], Const):
            value = getattr(made.args[0].value, made.args[1].value, None)  # type: ignore[union-attr]
            return Const(value) if isinstance(value, float) and value == np.inf else atom
        if made is not None and made.op is operator.getitem and isinstance(made.args[0], Global):
            held, key = made.args[0].lookup(), made.args[1]
            option = _as_option(held.get(key.value)) if isinstance(held, dict) and isinstance(key, Const) else None
            if option is None:
                return atom
            place = Place("item", held)
            self.places[place, key.value] = place  # type: ignore[union-attr,index]
            return Const(option)
        if made is not None and made.op is operator.neg:
            inner = self.frozen(made.args[0])
            return Const(-inner.value) if isinstance(inner, Const) and inner.value == np.inf else atom
        if made is None or made.op not in (ops.make_list, ops.make_tuple) or not made.args or not atom.startswith("%"):
            return atom
        items = [self.frozen(a) for a in made.args]
        if all(isinstance(a, Const) and isinstance(a.value, (int, tuple)) for a in items):
            return Const(tuple(a.value for a in items))  # type: ignore[union-attr]
        return atom

    def with_defaults(self, callee: Nested, args: list, given: dict[str, Atom], node: Any) -> list[Atom]:
        """The arguments of the function whose derivative is called: a value for each of its parameters."""
        names, defaults = self.parameters_of(callee.function, node)
        whole = list(args)
        for name in names[len(args) :]:
            if name not in given and name not in defaults:
                raise self.wrong_call(node, callee.__name__, f"its parameter {name} is not given")
            whole.append(given.pop(name) if name in given else defaults[name])
        if given:
            raise self.wrong_call(node, callee.__name__, f"it has no parameter {next(iter(given))}")
        return whole

    def parameters_of(self, function: Any, node: Any) -> tuple[list[str], dict[str, Atom]]:
        """The names of the parameters of a function or a derivative of one, and the default values."""
        if isinstance(function, Nested) or isinstance(function, Made):
            names, defaults = self.parameters_of(function.function, node)
            return ([*names, "out_bar"], {}) if function.kind == "adjoint" else (names, defaults)
        names = own_parameters(function)
        if isinstance(function, Closure):
            return names, function.defaults
        if isinstance(function, Bound):
            return names, {n: a for n, a in self.parameters_of(function.function, node)[1].items() if n in names}
        parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
        given = {p.name: self.captured(p.default, node, function) for p in parameters if p.default is not p.empty}
        return names, given

    def spelled_out(self, atom: Atom) -> Atom:
        """A text, or a tuple of such or of integers, that the module or a closure names, as if it stood in the call:
        it says how something is computed."""
        if isinstance(atom, Global) and isinstance(value := atom.lookup(), (str, tuple)) and is_option(value):
            return self.option_of(atom)
        return atom

    def option(self, atom: Atom, what: str, node: Any) -> Any:
        """The value of an argument that says what is computed: what is compiled is good while it is the same."""
        atom = self.frozen(atom)
        if isinstance(atom, Global) and is_option(atom.lookup()):
            return self.option_of(atom).value
        if not isinstance(atom, Const) or not is_option(atom.value):
            raise self.unsupported(
                node, f"{what} with a value that is not known when compiling", "write it as a constant"
            )
        return atom.value

    def option_of(self, atom: Global) -> Const:
        """What a name of the module or of a closure stands for: the code is good while it does."""
        place = Place("option", atom.place)
        self.places[place, atom.name] = place
        return Const(atom.lookup())

    def key(self, node: Any) -> Atom:
        """A key of a dict, which is known when compiling if it can be."""
        atom: Atom = self.expression(node)
        if isinstance(atom, Global) and is_option(atom.lookup()):
            return self.option_of(atom)
        known = self.type_known(atom)
        return Const(known.value) if isinstance(known, Known) else atom

    def captured(self, value: Any, node: Any, function: Any) -> Atom:
        """A value that a callable holds, read while the code runs."""
        plain = isinstance(value, (bool, int, float, complex, str, bytes)) or isinstance(value, tuple) and not value
        if is_static(value) or plain:
            return Const(value)
        holder = getattr(function, "__name__", "function").strip("<>")
        self.places[Place("value", value), holder] = Place("value", value)  # what it holds may say what is called
        return Global(type(value).__name__.lower() if is_object(value) else f"{holder}_data", Place("value", value))

    def data_by_default(self, callee: Any, count: int, given: dict[str, Atom], node: Any) -> list[tuple[str, Atom]]:
        """The default values that a call leaves as they are, and that may hold something else at the next."""
        parameters = list(inspect.signature(callee, follow_wrapped=False).parameters.values())[count:]
        left = [p for p in parameters if p.name not in given and _may_change(p.default)]
        atoms = [(p.name, self.captured(p.default, node, callee)) for p in left if p.kind is not p.POSITIONAL_ONLY]
        return [(name, atom) for name, atom in atoms if isinstance(atom, Global)]

    def bind_parameters(
        self, activation: Activation, tree: Any, defaults: dict[str, Atom], args: list, keywords: list, node: Any,
        name: str,
    ) -> None:  # fmt: skip
        """Give each parameter its value, as Python does."""
        signature = tree.args
        plain = [a.id for a in (*signature.posonlyargs, *signature.args)]
        only = [a.id for a in signature.kwonlyargs]
        positional_only = {a.id for a in signature.posonlyargs}
        given: dict[str, Atom] = dict(zip(plain, args, strict=False))
        rest = tuple(args[len(plain) :])
        more: dict[str, Atom] = {}
        for key, value in keywords:
            if key in given:
                raise self.wrong_call(node, name, f"it is given {key} twice")
            if key in plain and key not in positional_only or key in only:
                given[key] = value
            else:
                more[key] = value
        if rest and not signature.vararg:
            raise self.wrong_call(node, name, f"it takes {len(plain)} arguments, and is given {len(args)}")
        if more and not signature.kwarg:
            raise self.wrong_call(node, name, f"it has no parameter {next(iter(more))}")
        for key in (*plain, *only):
            if key not in given and key not in defaults:
                raise self.wrong_call(node, name, f"its parameter {key} is not given")
            self.bind_parameter(activation, key, given.get(key, defaults.get(key)), node)  # type: ignore[arg-type]
        if signature.vararg:
            starred = signature.vararg.id
            open_ended = any(map(is_spread, rest))
            made = self.rest_of_any_length(rest, node) if open_ended else None
            self.emit(*((ops.identity, (made,)) if open_ended else (ops.make_tuple, rest)), node,
                      target=activation.variable(starred))  # fmt: skip
            if activation.local[starred] == 1 and not open_ended:
                activation.static[starred] = tuple(self.kept(a, node) for a in rest)
        if signature.kwarg:
            double = signature.kwarg.id
            self.emit(ops.make_dict, (Const(tuple(more)), *more.values()), node, target=activation.variable(double))
            if activation.local[double] == 1 and is_only_read(tree, double):
                activation.static[double] = {k: self.kept(v, node) for k, v in more.items()}

    def with_first_items(self, args: list, count: int, node: Any) -> list:
        """``f(a, *x)`` where f has so many parameters more before its ``*args``: ``f(a, x[0], *x[1:])``."""
        if not count:
            return args
        made = self.given_as(args[-1])
        self.out.remove(made)
        firsts = [self.emit(operator.getitem, (made.args[0], Const(k)), node) for k in range(count)]
        rest = self.emit(operator.getitem, (made.args[0], Const(slice(count, None))), node)
        return [*args[:-1], *firsts, self.emit(ops.spread, (rest,), node, name="%_spread_")]

    def given_as(self, spread: Atom) -> Assign:
        """The statement that makes what stands for ``*x``."""
        return next(s for s in reversed(self.out) if isinstance(s, Assign) and s.target == spread)

    def rest_of_any_length(self, rest: tuple, node: Any) -> Atom:
        """The tuple that ``*args`` is where its last arguments were given as ``*x``."""
        made = self.given_as(rest[-1])
        self.out.remove(made)
        whole = self.emit(builtins.tuple, (made.args[0],), node)
        if not rest[:-1]:
            return whole
        return self.emit(operator.add, (self.emit(ops.make_tuple, rest[:-1], node), whole), node)

    def bind_parameter(self, activation: Activation, name: str, value: Atom, node: Any) -> None:
        if activation.local[name] > 1:
            value = self.opened(value, node)
        if activation.local[name] == 1:
            if not isinstance(value, str):
                activation.constants[name] = value
                return
        op = self.another_name(value)
        if op is ops.once and isinstance(activation.source, Quoted):  # the functions there run over lists
            op = ops.identity if value.startswith("%") else builtins.list
        self.emit(op, (value,), node, target=activation.variable(name))

    def wrong_call(self, node: Any, name: str, why: str) -> UnsupportedSyntax:
        return UnsupportedSyntax(
            f"{name} is called with the wrong arguments", self.span(node), why=why, way_out="correct the call"
        )

    def definition(self, atom: Atom) -> Assign | None:
        """The statement just before, if it is what an atom stands for."""
        last = self.out[-1] if self.out else None
        return last if isinstance(last, Assign) and last.target == atom else None


def lacks_before_rest(callee: Any, count: int) -> int | None:
    """How many parameters a function has before its ``*args`` beyond so many arguments; None if it takes no number of
    arguments, or some of these have default values."""
    callee = getattr(callee, "__tangentc_function__", callee)
    if isinstance(callee, Closure):
        signature = callee.node.args
        plain, optional, rest = (
            len(signature.posonlyargs) + len(signature.args),
            len(signature.defaults),
            signature.vararg,
        )
    elif isinstance(callee, types.FunctionType) and is_user_function(callee):
        plain, optional = callee.__code__.co_argcount, len(callee.__defaults__ or ())
        rest = callee.__code__.co_flags & inspect.CO_VARARGS
    else:
        return None
    return max(plain - count, 0) if rest and (not optional or count >= plain) else None


def is_spread(atom: Atom) -> bool:
    """Whether an argument stands for as many as only the run knows."""
    return isinstance(atom, str) and atom.startswith("%_spread_")


def is_option(value: Any) -> bool:
    """Whether a value is a flag, a text, an integer or a tuple of these, or None."""
    if isinstance(value, tuple):
        return all(map(is_option, value))
    return value is None or isinstance(value, (bool, int, str))


def _may_change(value: Any) -> bool:
    """Whether a value can hold something else while it stays the same object."""
    if isinstance(value, tuple):
        return any(map(_may_change, value))
    return isinstance(value, (list, dict, np.ndarray)) or is_object(value)


def _as_option(value: Any) -> Any:
    """A list of integers as the option that it is, a tuple; None for anything else."""
    if isinstance(value, list):
        parts = [v if is_option(v) else _as_option(v) for v in value]
        return None if None in parts else tuple(parts)
    return None
