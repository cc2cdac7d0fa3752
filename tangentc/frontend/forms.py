"""Functions that stand for a form of the language: ``functools.partial``, ``getattr``, ``setattr``, ``list()``.

A function under `means` writes what a call of these is; it gives None for a call that is like any other.
"""

from __future__ import annotations

import builtins
import collections
import copy
import dataclasses
import functools
import inspect
import itertools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.core import ops
from tangentc.core.classes import found_in_class
from tangentc.core.nodes import Atom, Const, Global, Place, Store
from tangentc.core.types import Array, Dict, Known, Sequence, Struct, Tuple, is_container, is_numeric, items_of
from tangentc.frontend import prelude
from tangentc.frontend.activation import Bound
from tangentc.frontend.callables import is_library_module
from tangentc.frontend.part import Part
from tangentc.frontend.source import Quoted
from tangentc.rules.definitions.procedures import vectorized
from tangentc.rules.registry import is_float, is_known

AUGMENTED = {
    f for n, f in vars(operator).items() if n.startswith("i") and hasattr(operator, f"__{n}__") and n != "index"
}
OF_FUNCTIONS = {np.piecewise: ("x", "condlist", "funclist"), np.vectorize: ("pyfunc", "otypes")}


@dataclass
class Call:
    """A call of a function that is known."""

    callee: Any
    args: list[Any]  # atoms
    keywords: list[tuple[str, Any]]
    node: Any
    target: str | None = None


def holds_objects(t: Any) -> bool:
    return isinstance(t, Struct) or is_container(t) and any(map(holds_objects, t.items))


Form = Callable[[Any, Call], Atom | None]
FORMS: dict[Any, Form] = {}


def means(*functions: Any) -> Callable[[Form], Form]:
    """What a call of these is, written by the decorated function."""

    def write(form: Form) -> Form:
        FORMS.update(dict.fromkeys(functions, form))
        return form

    return write


class Forms(Part):
    """The part of lowering that knows functions which stand for a form of the language."""

    def form(self, call: Call) -> Atom | None:
        """What a call of one of these functions is; None for calls of others."""
        made = self.differentiation(call.callee, call.args, call.keywords, call.node)
        if made is not None:
            return made
        if getattr(call.callee, "__module__", "") == "tangentc.jacobians":
            name = getattr(call.callee, "__name__", "jacobian")
            why = f"{name} by several arguments inside a function"
            raise self.unsupported(call.node, why, "take them one by one")
        if isinstance(call.callee, type) and call.callee.__module__ == "itertools":
            return _run_over_again(self, call)
        try:
            form = FORMS.get(call.callee)
        except TypeError:  # an object that has no hash
            return None
        return form(self, call) if form is not None else None


def unchanged(function: Any) -> Any:
    """What ``functools.wraps(f)`` makes of a wrapper, as far as its value goes."""
    return function


def nothing(*args: Any, **keywords: Any) -> None:
    """``object.__init__``."""


@means(nothing)
def _nothing(lower: Any, call: Call) -> Atom:
    return Const(None)


@means(builtins.eval, builtins.exec, builtins.compile, builtins.locals, builtins.globals, builtins.vars)
def _as_text(lower: Any, call: Call) -> Atom | None:
    if call.callee is builtins.vars and call.args:
        return None
    why = f"`{call.callee.__name__}`, which finds names while it runs"
    raise lower.unsupported(call.node, why, "write what it stands for")


@means(is_known)
def _is_known(lower: Any, call: Call) -> Atom:
    given, value = call.args
    return Const(isinstance(given, Const) and is_known(given.value, value.value))


@means(is_float)
def _is_float(lower: Any, call: Call) -> Atom:
    t = lower.state.of(call.args[0])
    return Const(is_numeric(t) and np.dtype(t.dtype).kind == "f")


# ------------------------------------------------------------------ callables
@means(unchanged)
def _unchanged(lower: Any, call: Call) -> Atom:
    return call.args[0]


@means(functools.wraps)
def _wraps(lower: Any, call: Call) -> Atom:
    return Const(unchanged)


@means(functools.partial)
def _partial(lower: Any, call: Call) -> Atom | None:
    if not isinstance(call.args[0], Const):
        return None
    kept = [lower.kept(a, call.node) for a in call.args[1:]]
    named = tuple((k, lower.kept(v, call.node)) for k, v in call.keywords)
    return lower.remember(Bound(call.args[0].value, tuple(kept), named), call.node)


@means(*prelude.ASKING)
def _getter(lower: Any, call: Call) -> Atom | None:
    asking = prelude.ASKING[call.callee].get(len(call.args))
    if asking is None or call.keywords:
        return None
    if call.callee is not operator.itemgetter and not isinstance(call.args[0], Const):
        return None
    return lower.remember(Bound(asking, tuple(call.args)), call.node)


@means(np.vectorize)
def _vectorize(lower: Any, call: Call) -> Atom | None:
    names = OF_FUNCTIONS[np.vectorize]
    given = dict(zip(names, call.args)) | dict(call.keywords)
    if not isinstance(given.get("pyfunc"), Const) or not given.keys() <= {*names}:
        return None
    otypes = lower.frozen(given.get("otypes", Const(None)))
    return lower.remember(Bound(vectorized, (given["pyfunc"], otypes), ()), call.node)


@means(builtins.callable)
def _callable(lower: Any, call: Call) -> Atom | None:
    return Const(callable(call.args[0].value)) if isinstance(call.args[0], Const) else None


# ------------------------------------------------------------------ objects
@means(builtins.getattr)
def _getattr(lower: Any, call: Call) -> Atom | None:
    base, *rest = call.args
    if not rest:
        return None
    name, default = lower.name_of_attribute(rest[0], call.node), rest[1:]
    if name is None:
        return None
    if default and name in getattr(lower.type_known(base), "unsure", ()):
        return lower.invoke(prelude.attribute_or, [base, Const(name), default[0]], [], call.node, call.target)
    if default and isinstance(base, (str, Global)) and default != [Const(None)]:
        return lower.attribute_or(base, name, default[0], call.node)
    if isinstance(base, Const):
        return Const(getattr(base.value, name, *(a.value for a in default)))
    t = lower.type_known(base)
    is_there = isinstance(t, Struct) and name in t.fields
    if default and isinstance(t, Struct) and t.fields and not is_there and not found_in_class(t.cls, name)[0]:
        return default[0]
    if default == [Const(None)] and not is_there:
        cls = lower.class_of(base, call.node)
        if cls is None or not found_in_class(cls, name)[0]:
            key = Const(ops.Attribute(name))
            return lower.emit(ops.old_item, (base, key), call.node, target=call.target)
    return lower.attribute(base, name, call.node, call.target)


@means(builtins.hasattr)
def _hasattr(lower: Any, call: Call) -> Atom | None:
    """What the class of an array, a number, a list or a dict has."""
    if not isinstance(call.args[1], Const):
        return None
    of = call.args[0].value if isinstance(call.args[0], Const) else None
    if inspect.ismodule(of):
        if hasattr(of, name := call.args[1].value) and not is_library_module(of):
            lower.places[Place("attribute", of), name] = Place("attribute", of)
        return Const(hasattr(of, name))
    has = lower.has_of_its_class(call.args[0], call.args[1].value)
    return None if has is None else Const(has)


@means(builtins.setattr, object.__setattr__)
def _setattr(lower: Any, call: Call) -> Atom | None:
    is_object = isinstance(call.args[0], (str, Const))
    return lower.set_attribute(call.args, call.node) if is_object else None


@means(builtins.isinstance)
def _isinstance(lower: Any, call: Call) -> Atom:
    subject, cls = call.args
    made = lower.definition(cls)
    if made is not None and made.op is ops.make_tuple and all(isinstance(a, Const) for a in made.args):
        cls = Const(tuple(a.value for a in made.args))
    known = lower.is_instance([subject, cls], call.node)
    return known or lower.emit(call.callee, (subject, cls), call.node, target=call.target)


@means(runtime.struct)
def _struct(lower: Any, call: Call) -> Atom:
    names = tuple(n for n, _ in call.keywords)
    return lower.struct(call.args[0].value, names, dict(call.keywords), call.node)


@means(dataclasses.replace)
def _replace(lower: Any, call: Call) -> Atom | None:
    cls = lower.class_of(call.args[0], call.node)
    if cls is None:
        return None
    given = dict(call.keywords)
    fields = [f.name for f in dataclasses.fields(cls) if f.init or f.name in given]
    every = [(n, given[n] if n in given else lower.attribute(call.args[0], n, call.node)) for n in fields]
    return lower.construct(cls, [], every, call.node, call.target)


@means(object.__new__)
def _new(lower: Any, call: Call) -> Atom | None:
    return lower.new_object(call.args[0].value, call.node) if isinstance(call.args[0], Const) else None


# ------------------------------------------------------------------ copies
@means(copy.copy)
def _copy(lower: Any, call: Call) -> Atom | None:
    return lower.copied_object(call.args[0], call.node) if len(call.args) == 1 else None


@means(copy.deepcopy, runtime.copied)
def _deep_copy(lower: Any, call: Call) -> Atom:
    views = dict(call.keywords).get("views", Const(call.callee is runtime.copied))
    apart = () if views == Const(True) else (views,)
    return lower.emit(ops.copied, (call.args[0], *apart), call.node, target=call.target)


@means(np.copy)
def _array_copy(lower: Any, call: Call) -> Atom | None:
    if len(call.args) != 1 or call.keywords:
        return None
    order = (("order", Const("K")),)
    return lower.emit(np.copy, tuple(call.args), call.node, order, target=call.target)


# ------------------------------------------------------------------ containers and iterators
@means(np.ndindex)
def _run_over_again(lower: Any, call: Call) -> Atom:
    """An iterator that may be run over more than once, as a list."""
    items = lower.emit(call.callee, tuple(call.args), call.node, tuple(call.keywords))
    if call.callee in (itertools.count, itertools.repeat, itertools.cycle):  # without end
        return items
    return lower.emit(builtins.list, (items,), call.node, target=call.target)


HELD = (Array, Sequence, Tuple)
ENDLESS = {itertools.count: prelude.counted, itertools.cycle: prelude.cycled, itertools.repeat: prelude.same}


@means(builtins.zip)
def _zip(lower: Any, call: Call) -> Atom | None:
    """What runs on without end beside lists, as far as the shortest of these runs: a list."""
    used = [id(lower.asks.made(a) or a) for a in call.args if a in lower.iterators]
    if len(set(used)) < len(used):
        raise lower.unsupported(call.node, "one iterator twice in `zip`", "make a list of it, and take slices, a[::2]")
    made = [lower.asks.made(a) if str(a).startswith("%") else None for a in call.args]
    endless = [m is not None and m.op in ENDLESS and not (m.op is itertools.repeat and len(m.args) > 1) for m in made]
    finite = [a for a, runs_on in zip(call.args, endless) if not runs_on]
    if all(endless) or not any(endless) or not all(isinstance(lower.state.of(a), HELD) for a in finite):
        return None
    lower.out[:] = [s for s in lower.out if not any(s is m for m, runs_on in zip(made, endless) if runs_on)]
    lengths = [lower.emit(builtins.len, (a,), call.node) for a in finite]
    count = lengths[0] if len(lengths) == 1 else lower.emit(builtins.min, tuple(lengths), call.node)
    args = [
        lower.invoke(ENDLESS[m.op], [count, *m.args], list(m.keywords), call.node, None) if runs_on else a
        for a, m, runs_on in zip(call.args, made, endless)
    ]
    return lower.emit(builtins.zip, tuple(args), call.node, tuple(call.keywords), target=call.target)


@means(dataclasses.fields)
def _declared(lower: Any, call: Call) -> Atom | None:
    """The fields of a dataclass, which its class knows: ``for f in fields(self): getattr(self, f.name)``."""
    of = call.args[0].value if isinstance(call.args[0], Const) else lower.class_of(call.args[0], call.node)
    return Const(dataclasses.fields(of)) if isinstance(of, type) and dataclasses.is_dataclass(of) else None


@means(dataclasses.astuple, dataclasses.asdict)
def _fields(lower: Any, call: Call) -> Atom | None:
    """The fields of a dataclass, copied; of those in its fields too."""
    t = lower.type_known(call.args[0])
    if call.keywords or len(call.args) > 1 or not isinstance(t, Struct) or not dataclasses.is_dataclass(t.cls):
        return None
    names = tuple(f.name for f in dataclasses.fields(t.cls))
    values = []
    for name in names:
        value = lower.attribute(call.args[0], name, call.node)
        part = lower.state.of(value)
        if isinstance(part, Struct):
            value = _fields(lower, Call(call.callee, [value], [], call.node)) or value
        elif is_container(part) and any(map(holds_objects, part.items)):
            raise lower.unsupported(call.node, "the fields of dataclasses in lists", "name the fields")
        elif isinstance(part, Array) or is_container(part):
            value = lower.invoke(copy.deepcopy, [value], [], call.node, None)
        values.append(value)
    if call.callee is dataclasses.astuple:
        return lower.emit(ops.make_tuple, tuple(values), call.node, target=call.target)
    return lower.emit(ops.make_dict, (Const(names), *values), call.node, target=call.target)


@means(builtins.str)
def _text(lower: Any, call: Call) -> Atom | None:
    """The text of an integer that is known: ``"W" + str(1)``."""
    known = lower.plain_value(call.args[0]) if len(call.args) == 1 and not call.keywords else None
    return Const(str(known)) if type(known) in (int, str) else None


@means(builtins.iter)
def _iter(lower: Any, call: Call) -> Atom | None:
    if len(call.args) == 1 and isinstance(call.args[0], Const):  # a text, which is no iterator by itself
        return lower.emit(builtins.list, tuple(call.args), call.node, target=call.target)
    return call.args[0] if len(call.args) == 1 else None


@means(collections.OrderedDict, collections.deque, collections.defaultdict)
def _standing(lower: Any, call: Call) -> Atom:
    return lower.standing(call.callee, call.args, dict(call.keywords), call.node, call.target)


@means(builtins.list, builtins.tuple)
def _empty(lower: Any, call: Call) -> Atom | None:
    if call.args or call.keywords:
        return None
    made = ops.make_list if call.callee is builtins.list else ops.make_tuple
    return lower.emit(made, (), call.node, target=call.target)


@means(builtins.dict)
def _dict(lower: Any, call: Call) -> Atom | None:
    if call.args:
        return None
    names = Const(tuple(k for k, _ in call.keywords))
    values = (v for _, v in call.keywords)
    return lower.emit(ops.make_dict, (names, *values), call.node, target=call.target)


@means(dict.fromkeys)
def _fromkeys(lower: Any, call: Call) -> Atom | None:
    """A dict of keys that are known, each with the same value."""
    keys, value = call.args[0], call.args[1] if len(call.args) > 1 else Const(None)
    t = lower.type_known(keys)
    known = keys.value if isinstance(keys, Const) else t.value if isinstance(t, Known) else None
    if isinstance(t, Dict):
        known = t.keys
    elif parts := items_of(t):
        known = tuple(part.value for part in parts if isinstance(part, Known))
        known = known if len(known) == len(parts) else None
    if not isinstance(known, (str, tuple)) or call.keywords:
        return None
    names = tuple(dict.fromkeys(known))
    return lower.emit(ops.make_dict, (Const(names), *[value] * len(names)), call.node, target=call.target)


@means(operator.setitem)
def _setitem(lower: Any, call: Call) -> Atom | None:
    if not isinstance(call.args[0], str):
        return None
    lower.add(Store(call.args[0], call.args[1], call.args[2], None, lower.span(call.node)))
    return Const(None)


@means(operator.delitem, *AUGMENTED)
def _in_place(lower: Any, call: Call) -> Atom:
    raise lower.unsupported(call.node, f"operator.{call.callee.__name__}", "write the operator")


# ------------------------------------------------------------------ arrays
@means(np.where)
def _where(lower: Any, call: Call) -> Atom | None:
    if len(call.args) == 3 and call.args[0] == Const(True) and isinstance(lower.activation.source, Quoted):
        return call.args[1]
    if len(call.args) == 1 and not call.keywords:
        return lower.emit(np.nonzero, tuple(call.args), call.node, target=call.target)
    return None
