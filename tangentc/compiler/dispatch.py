"""What a call checks before it runs compiled code, written as a function of Python that can be read.

It takes what the derivative takes, and gives the arguments by position if the code is right for them: if they are of
the types that it was compiled for, and if what it depends on is as it was.  Else it gives None, and the call goes the
general way, which says what is right: it finds the types, looks for code that was compiled for them, and compiles.

    def scaled_grad_takes(x):
        # x: float64[n0]
        if not (type(x) is ndarray and x.dtype == float64 and x.ndim == 1):
            return None
        (n0,) = x.shape
        if not (n0 >= 8):
            return None
        # what scaled_grad depends on
        SCALE = module["SCALE"]
        if not (rules.version == 412 and scaled.__code__ is scaled_code and type(SCALE) is float and ...):
            return None
        scaled_grad_names["SCALE"] = SCALE
        return (x,)
"""

from __future__ import annotations

import builtins
import functools
import inspect
import types as pytypes
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentc.analysis.turning import COMPLEX
from tangentc.compiler.matching import NotWritten, Rows, is_plain_name, quoted
from tangentc.core import texts
from tangentc.core.nodes import Members, Place, binds
from tangentc.core.types import Type
from tangentc.core.values import data_type, is_object, mutable_parts
from tangentc.frontend.dependencies import METHODS, OPTIONS, Dependency, functions_in
from tangentc.rules.registry import REGISTRY

MOST = 16  # functions that a call tries
MOST_OF_ONE = 16  # functions that are written for the same code: what it reads may be other objects of the same types


class Dispatch:
    """A function that takes the arguments that compiled code is right for, and its text."""

    def __init__(self, compiled: Any, text: str, namespace: dict[str, Any], name: str):
        self.compiled, self.text = compiled, text
        file = texts.run(text, name, namespace)
        self.takes: Callable[..., tuple[object, ...] | None] = namespace.pop(name)
        weakref.finalize(self.takes, texts.forget, file)

    def accepts(self, bound: tuple[object, ...]) -> bool:
        """Whether the function takes arguments that are in the order of the parameters."""
        code = self.takes.__code__
        given, named = bound[: code.co_argcount], bound[code.co_argcount :]
        try:
            return self.takes(*given, **dict(zip(code.co_varnames[code.co_argcount :], named))) is not None
        except Exception:
            return False


def written(
    compiled: Any, name: str, signature: inspect.Signature, types: Sequence[Type], bound: tuple[object, ...],
    functions: Sequence[object], called: bool = True,
) -> Dispatch | None:  # fmt: skip
    """The function for arguments like these, whose types are given; None if it cannot be written.

    ``functions`` are those whose code and defaults tell how arguments are bound to the parameters; ``called`` is what
    `Compiled.is_fresh` is given.
    """
    parameters = list(signature.parameters)
    rows = Rows([*parameters, name])
    header = f"def {name}({_parameters(rows, signature)}):"
    try:
        for parameter, t, value in zip(parameters, types, bound, strict=True):
            rows.argument(parameter, t, value)
        rows.row(f"# what {compiled.text.name} depends on")
        rows.test(f"{rows.constant(REGISTRY, 'rules')}.version == {REGISTRY.version}")
        rows.test(f"not {rows.constant(COMPLEX, 'complex_results')}.get()")
        depends = _Depends(rows)
        for function in functions:
            depends.signed(function)
        depends.all_of(compiled, called)
        if shared := _may_share(rows, compiled, parameters, bound):
            rows.test(shared)
        depends.show_data(compiled)
    except NotWritten:
        return None
    given = f"({parameters[0]},)" if len(parameters) == 1 else ", ".join(parameters) or "()"
    rows.row(f"return {given}")
    text = "\n".join([header, *rows.finish(), ""])
    return Dispatch(compiled, text, {**rows.namespace, "__name__": "tangentc"}, name)


def _parameters(rows: Rows, signature: inspect.Signature) -> str:
    """The parameters of a signature, with its defaults."""
    out, last = [], None
    for p in signature.parameters.values():
        if last is p.POSITIONAL_ONLY is not p.kind:
            out.append("/")
        if p.kind is p.KEYWORD_ONLY is not last:
            out.append("*")
        out.append(p.name if p.default is p.empty else f"{p.name}={rows.literal(p.default, f'{p.name}_default')}")
        last = p.kind
    return ", ".join([*out, "/"] if last is inspect.Parameter.POSITIONAL_ONLY else out)


def _may_share(rows: Rows, compiled: Any, parameters: list[str], bound: tuple[object, ...]) -> str:
    """A test that no memory is shared that is written into, which `Compiled.apart` says; "" where none can be."""
    if not compiled.writes:
        return ""
    held = [(name, value) for name, value in zip(parameters, bound) if mutable_parts(value)]
    general = f"{rows.constant(compiled.apart, 'apart')}(({', '.join([*parameters, ''])}))"
    if compiled.outside or len(held) > 3 or not all(isinstance(value, np.ndarray) for _, value in held):
        return general
    own = [f"{name}.flags.owndata" for name, _ in held]
    differ = [f"{a} is not {b}" for k, (a, _) in enumerate(held) for b, _ in held[:k]]
    return f"({' and '.join([*differ, *own])} or {general})" if len(held) > 1 else ""


class _Depends:
    """Tests that what code depends on is as it is now."""

    def __init__(self, rows: Rows):
        self.rows = rows
        self.local: dict[tuple[Place, object], str] = {}  # data, and the names that they have in the function
        self.classes: set[type] = set()

    def all_of(self, compiled: Any, called: bool = False) -> None:
        """Tests of all that `Compiled.is_fresh` looks at."""
        self.signed(compiled.root)
        if not called:
            self.kept(compiled.root)
        for inner in compiled.inside:
            self.all_of(inner)
            self.show_data(inner)  # where the code around it reads them
        for dependency in sorted(compiled.dependencies, key=_order):
            self.dependency(dependency)

    def show_data(self, compiled: Any) -> None:
        """The rows that let the code see the data of the module."""
        for name, atom in compiled.live.items():
            names = self.rows.constant(compiled.function.__globals__, f"{compiled.text.name}_names")
            self.rows.row(f"{names}[{quoted(name)}] = {self.place(atom.place, atom.name)}")

    # ---------------------------------------------------------- places
    def place(self, place: Place, name: str) -> str:
        """What a name stands for now, as an expression."""
        rows = self.rows
        if (place, name) in self.local:
            return self.local[place, name]
        if place.kind == "value":
            return rows.constant(place.home, str(name))
        if place.kind == "option":
            return self.place(place.home, name)
        if place.kind == "cell":
            return f"{rows.constant(place.home, f'{name}_cell')}.cell_contents"
        if place.kind == "attribute":
            home = rows.constant(place.home, _hint(place.home))
            return f"{home}.{name}" if is_plain_name(name) else f"{rows.builtin(getattr)}({home}, {quoted(name)})"
        home = rows.constant(place.home, _hint(place.home))
        if name not in place.home:
            rows.test(f"{rows.literal(name, 'key')} not in {home}", once=True)
            home = rows.constant(vars(builtins), "builtins")
        return f"{home}[{rows.literal(name, 'key')}]"

    def dependency(self, d: Dependency) -> None:
        """Tests of all that `Dependency.is_fresh` looks at."""
        if d.place.kind == "class":
            self.members(d.place.home)
        elif d.place.kind in OPTIONS:
            self.rows.same(self.place(d.place, d.name), d.value, d.name)
        elif d.place.kind == "compiled":
            self.kept(d.place.home.root)
        elif d.held is None:
            if d.place.kind != "value":
                self.same(self.place(d.place, d.name), d)
            self.kept(d.value)
        elif d.held is not None and not callable(d.value) and d.type_of(now_ := d.place.lookup(d.name)) == d.held:
            self.data(d.place, d.name, d.held, now_)
        else:
            self.rows.test(f"{self.rows.constant(d, f'{d.name}_dependency')}.is_fresh()")

    def same(self, now: str, d: Dependency) -> None:
        """Tests that a name stands for the same object; see `is_same`."""
        then = self.rows.constant(d.value, str(d.name))
        if type(d.value) in METHODS and d.place.lookup(d.name) is not d.value:  # it is made anew when it is asked for
            self.rows.test(f"{self.rows.builtin(type)}({now}) is {self.rows.builtin(type)}({then})")
            self.rows.test(f"{now} == {then}")
        else:
            self.rows.test(f"{now} is {then}", once=True)

    def data(self, place: Place, name: str, held: Type, now: object) -> None:
        """Tests that data have the types that they had, under a local name."""
        if (place, name) not in self.local:
            value = self.place(place, name)
            local = self.local[place, name] = self.rows.name(str(name))
            self.rows.row(f"{local} = {value}")
        self.rows.data(self.local[place, name], held, now)
        for function in functions_in(held):
            self.kept(function)

    def members(self, cls: type) -> None:
        """Tests that classes define what they define; see `Members`."""
        rows = self.rows
        mro = rows.constant(cls.__mro__, f"{cls.__name__}_mro")
        rows.test(f"{rows.constant(cls, cls.__name__)}.__mro__ is {mro}", once=True)
        for c in Members.own(cls):
            if c in self.classes:
                continue
            self.classes.add(c)
            defined = rows.constant(vars(c), f"{c.__name__}_members")
            rows.test(f"[*{defined}] == {rows.constant(list(vars(c)), f'{c.__name__}_names')}")
            for name, value in vars(c).items():
                if binds(value):
                    rows.test(f"{defined}[{quoted(name)}] is {rows.constant(value, f'{c.__name__}_{name}')}")

    # ---------------------------------------------------------- functions
    def signed(self, function: object) -> None:
        """Tests that a function's code and signature are made of the same objects; see `Signed`."""
        self._function(function, deep=False)

    def kept(self, function: object) -> None:
        """Tests that what a function keeps is as it was; see `kept_by`."""
        self._function(function, deep=True)

    def _function(self, function: object, deep: bool) -> None:
        rows = self.rows
        if isinstance(function, functools.partial):
            self._function(function.func, deep)
            name = rows.constant(function, "partial")
            rows.test(f"{name}.args is {rows.constant(function.args, f'{name}_args')}", once=True)
            self._items(f"{name}.keywords", function.keywords)
            held = [*function.args, *function.keywords.values()]
        elif isinstance(function, pytypes.MethodType):
            self._function(function.__func__, deep)
            return
        elif isinstance(function, pytypes.FunctionType):
            name = rows.constant(function, function.__name__)
            for attribute in ("__code__", "__defaults__"):
                value = getattr(function, attribute)
                then = rows.constant(value, f"{name}_{attribute.strip('_')}") if value is not None else "None"
                rows.test(f"{name}.{attribute} is {then}", once=True)
            if function.__kwdefaults__ is None:
                rows.test(f"{name}.__kwdefaults__ is None", once=True)
            else:
                self._items(f"{name}.__kwdefaults__", function.__kwdefaults__)
            held = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        elif callable(function) and (is_object(function) or not deep):
            call = type(function).__call__
            cls = rows.constant(type(function), type(function).__name__)
            if isinstance(call, pytypes.FunctionType):
                rows.test(f"{cls}.__call__ is {rows.constant(call, f'{cls}_call')}", once=True)
                self._function(call, deep)
            return
        else:
            return
        for value in held if deep else ():  # which may hold values of other types by now
            if isinstance(value, (list, dict, tuple)) or is_object(value):
                rows.data(rows.constant(value, f"{name}_default"), data_type(value), value)

    def _items(self, text: str, items: dict[str, object]) -> None:
        """Tests that a dict has the same keys and, under them, the same objects."""
        self.rows.test(f"[*{text}] == {quoted(list(items))}", once=True)
        for key, value in items.items():
            self.rows.test(f"{text}[{quoted(key)}] is {self.rows.constant(value, f'{key}_default')}", once=True)


def _order(d: Dependency) -> tuple[bool, str, str, str]:
    """What is called before the data that are read, and in the same order in each process."""
    return d.held is not None, str(d.name), d.place.kind, _hint(d.place.home)


def _hint(home: object) -> str:
    """A name for a module, its namespace, a class or an object."""
    name = home.get("__name__", "held") if isinstance(home, dict) else getattr(home, "__name__", type(home).__name__)
    return str(name).rpartition(".")[2]
