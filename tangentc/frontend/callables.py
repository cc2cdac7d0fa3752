"""What can be called, as functions of Python with parameters of their own: methods, partial functions, callable
objects, functions of NumPy and SciPy, and functions with ``*args``.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import types
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from tangentc.core import ops, texts
from tangentc.core.inside import Made, undecorated
from tangentc.core.jitted import in_python
from tangentc.core.values import is_object
from tangentc.errors import UnsupportedSyntax
from tangentc.frontend.dependencies import kept_by
from tangentc.rules.registry import REGISTRY

OF_PYTHON_AND_MATHEMATICS = ("colorsys", "collections", "enum", "types")  # modules of Python that are looked into


def is_library_module(value: Any) -> bool:
    name = value.__name__ if isinstance(value, types.ModuleType) else (getattr(value, "__module__", None) or "")
    if isinstance(value, np.ufunc) and not name:
        return REGISTRY.find(value) is not None  # SciPy's say no module, and those that np.frompyfunc makes neither
    if name.startswith(("tangentc.rules.scipy", "tangentc.rules.definitions.polynomials")):
        return False  # its classes stand for those of the library
    return name.split(".")[0] in (*ops.NUMERIC_MODULES, "builtins", "functools", "operator", "itertools", "tangentc")


def is_of_python(cls: Any) -> bool:
    """Whether a class or a function comes with Python; not a class whose objects are what their attributes hold."""
    root = (cls.__module__ or "").split(".")[0]
    return root in sys.stdlib_module_names and root not in ("types", "__main__")


def is_user_function(op: Any) -> TypeGuard[types.FunctionType]:
    """Whether ``op`` is written in Python and has no rule, so that its text says what its derivative is."""
    if not isinstance(op, types.FunctionType) or REGISTRY.find(op) is not None:
        return False
    module = op.__module__ or ""
    if is_of_python(op) and module not in OF_PYTHON_AND_MATHEMATICS or op.__code__.co_filename == contextlib.__file__:
        return False
    return ops.module_root(op) not in (*ops.NUMERIC_MODULES, "operator") and module not in (
        "tangentc.core.ops",
        "tangentc.runtime",
    )


_UNDER_SETTINGS = getattr(np.errstate()(lambda: None), "__code__", None)  # of what `@np.errstate(...)` gives


def python_function(function: Any, kind: str) -> Any:
    """The Python function behind what the user gave."""
    function = in_python(undecorated(function))
    if is_known(function):
        return wrapped(function) if is_library_module(function) else calling(function)
    if isinstance(function, types.FunctionType) and function.__code__ is _UNDER_SETTINGS:
        raise UnsupportedSyntax(
            f"{function.__name__} is decorated with np.errstate", why="the decorated function is one of NumPy's own",
            way_out="write `with np.errstate(...):` around the statements inside it",
        )  # fmt: skip
    if isinstance(function, types.FunctionType) and function.__code__.co_flags & 0x0C:
        return calling(function)  # *args or **kwargs: by the parameters that it shows
    if isinstance(function, (Made, types.FunctionType)):
        return function
    if callable(function):
        return calling(function.__call__ if is_object(function) else function)  # it is copied, as an argument is
    raise UnsupportedSyntax(
        f"{function!r} is not a function that tangentc can read",
        why="it cannot be called", way_out="give a function, a method, or an object with a __call__ method",
    )  # fmt: skip


def is_known(function: Any) -> bool:
    """Whether a function has a rule or a definition."""
    try:
        return REGISTRY.find(function) is not None or REGISTRY.definition(function) is not None
    except TypeError:
        return False


def calling(function: Any, count: int = 0, more: tuple[str, ...] = ()) -> types.FunctionType:
    try:
        return _remembered(function, count, more, kept_by(function))
    except TypeError:  # it cannot be a key: an object that compares by value
        return _caller(function, count, more)


@functools.lru_cache(maxsize=256)
def _remembered(function: Any, count: int, more: tuple[str, ...], kept: Any) -> types.FunctionType:
    return _caller(function, count, more)


def parameters_of(function: Any) -> list[inspect.Parameter]:
    """The parameters of a function, none where it does not say."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def defaults_after(signature: inspect.Signature) -> dict[int, tuple]:
    """The defaults that follow a number of arguments given by position, for each such number that is enough."""
    parameters = list(signature.parameters.values())
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    most = sum(p.kind in by_position for p in parameters)
    defaults = [p.default for p in parameters]
    return {
        k: tuple(defaults[k:]) for k in range(most + 1) if all(d is not inspect.Parameter.empty for d in defaults[k:])
    }


def with_keywords(signature: inspect.Signature, given: Any) -> inspect.Signature:
    """The signature of a function that calls what was given, with the parameters by name alone that this has, as
    ``self`` is one of a bound method: one more argument by position does not stand for it."""
    own = {p.name: p for p in parameters_of(given)}
    by_name = {n for n, p in own.items() if p.kind is p.KEYWORD_ONLY} | {"self"} - own.keys()
    parameters = list(signature.parameters.values())
    first = next((k for k, p in enumerate(parameters) if p.name in by_name), len(parameters))
    only = inspect.Parameter.KEYWORD_ONLY
    return signature.replace(parameters=[*parameters[:first], *(p.replace(kind=only) for p in parameters[first:])])


def beyond(function: Any, args: tuple, keywords: dict[str, Any]) -> tuple[int, tuple[str, ...]]:
    """How many arguments go to ``*args``, and the names of those that go to ``**kwargs``."""
    parameters = {p.name: p for p in parameters_of(function)}
    kinds = [p.kind for p in parameters.values()]
    by_position = sum(k in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for k in kinds)
    count = max(0, len(args) - by_position) if inspect.Parameter.VAR_POSITIONAL in kinds else 0
    named = {n for n, p in parameters.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    more = tuple(k for k in keywords if k not in named) if inspect.Parameter.VAR_KEYWORD in kinds else ()
    return count, more


def _caller(function: Any, count: int = 0, more: tuple[str, ...] = ()) -> types.FunctionType:
    """A method, a partial function or a callable object, as a function that calls it.

    ``count`` arguments go to its ``*args``, those named in ``more`` to its ``**kwargs``.
    """
    name = getattr(function, "__name__", None) or type(function).__name__.lower()
    name = name if name.isidentifier() else "function"
    every = inspect.signature(function).parameters.values()
    parameters: list[inspect.Parameter] = []
    for p in every:
        if p.kind is p.VAR_POSITIONAL:
            only = inspect.Parameter.POSITIONAL_ONLY
            parameters = [q.replace(default=q.empty) for q in parameters] if count else parameters
            parameters += [inspect.Parameter(f"{p.name}_{k}", only) for k in range(count)]
        elif p.kind is p.VAR_KEYWORD:
            parameters += [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None) for n in more]
        else:
            parameters.append(p)
    names = [p.name for p in parameters]
    defaults = [p.default for p in parameters if p.default is not p.empty]
    given = ", ".join(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else p.name for p in parameters)
    if isinstance(function, types.MethodType) and not isinstance(function.__self__, type) and "self" not in names:
        given = f"self, {given}" if given else "self"  # so that wrt="self" names the object
        names.append("self")
        defaults.append(function.__self__)
        function = function.__func__
    signature = ", ".join(names)
    callee = name if isinstance(function, types.FunctionType) and name not in names else "_callee"
    text = f"def {name}({signature}):\n    return {callee}({given})\n"
    home = getattr(getattr(function, "func", function), "__module__", None) or "__main__"
    namespace: dict[str, Any] = {"__name__": home}
    texts.run(text, f"caller {name}", namespace)
    made = namespace[name]
    namespace[callee] = function
    made.__defaults__ = tuple(defaults) or None
    return made


@functools.lru_cache(maxsize=256)
def wrapped(function: Any, options: tuple[str, ...] | None = None) -> types.FunctionType:
    """A function with a rule, as a function of Python: ``def f(x, y): return np.multiply(x, y)``."""
    if options is not None:
        names = ["x"] if len(options) == 1 else [f"x{k}" for k in range(len(options))]
        return _wrapper(function, names, [text or name for text, name in zip(options, names)])
    rule = REGISTRY.find(function)
    given = rule.inputs if rule is not None else _required(*REGISTRY.definition(function))  # type: ignore[misc]
    if any(n.startswith("*") for n in given):
        return calling(function)  # how many arguments it takes depends on the call
    return _wrapper(function, list(given) or ["x"])


def option(value: Any) -> str:
    """The text of an argument that says how something is computed, '' for one that is computed with."""
    if value is None or value is ... or isinstance(value, (bool, int, str)):
        return repr(value)
    parts = [option(v) for v in value] if isinstance(value, (tuple, list)) else []
    return repr(value) if parts and all(parts) else ""


def _wrapper(function: Any, names: list[str], given: list[str] | None = None) -> types.FunctionType:
    """``def f(x, y): return function(x, y)``, with its source."""
    name = getattr(function, "__name__", "function").strip("_")
    text = f"def {name}({', '.join(names)}):\n    return _function({', '.join(given or names)})\n"
    namespace: dict[str, Any] = {"_function": function, "__name__": "__main__"}
    texts.run(text, f"rule {name} of {', '.join(given or names)}", namespace)
    return namespace[name]


def _required(definition: Any, first: tuple) -> list[str]:
    """The parameters of a definition that have no default, beyond those that are given to it."""
    parameters = list(inspect.signature(definition).parameters.values())[len(first) :]
    return [f"{'*' * (p.kind is p.VAR_POSITIONAL)}{p.name}" for p in parameters if p.default is p.empty]


def plain_name(function: Any) -> str:
    return function.__name__.replace("<lambda>", "lambda_")


def fit(function: Any, args: Sequence[Any]) -> Any:
    """What ``function`` is for these arguments: one with ``*args`` gets a parameter for each that goes there."""
    if isinstance(function, Made):
        return function.fitted(tuple(args), {})
    given = undecorated(function, "__tangentc_given__")
    if is_known(given) and is_library_module(given):
        return wrapped(given, tuple(map(option, args)))
    key = beyond(given, tuple(args), {})
    return function if key == (0, ()) else calling(given, *key)
