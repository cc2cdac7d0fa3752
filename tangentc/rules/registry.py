"""Where rules are registered and found.

The partial derivative of an elementwise function is written once, and both modes follow from it:

    >>> from tangentc.rules.registry import REGISTRY, elementwise
    >>> def softplus(x):
    ...     return np.log1p(np.exp(x))
    >>> @elementwise(softplus)
    ... def softplus_rule(x, y):
    ...     return 1 - np.exp(-y)
    >>> REGISTRY.find(softplus).inputs
    ('x',)

A rule's parameters without default are the function's arguments, then its result, then (not for
`elementwise`) the adjoint of the result; those with a default are the function's options.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import math
import sys
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tangentc.errors import BadRule, Span
from tangentc.ops.table import having, known_of, record_of, say


@dataclass(frozen=True)
class Rule:
    """What is known of one function's derivative.

    ``kind`` is "elementwise" (``formula`` gives partials), "adjoint" (it gives adjoints) or "zero".
    ``linear`` says how a tangent follows without a formula: "jointly" when the function is linear in
    all of its active arguments together, "each" when it is linear in each one alone.
    """

    function: Callable[..., Any]
    kind: str
    inputs: tuple[str, ...] = ()
    formula: Formula | None = None
    options: tuple[tuple[str, Any], ...] = ()
    linear: str = ""
    tangent: Formula | None = None
    samples: Any = None
    domain: Any = None
    source: str = ""
    singular: bool = False
    real: bool = False
    only: Any = ()  # pairs of an option and the values that the rule covers
    covers: Any = None  # of the ranks of the arguments and the options: whether the rule does


class Formula:
    """The body of a rule, run by the transformation at each call (see `rules.fragment`).

    It is parsed once: a user's when it is registered, so that what cannot be read is refused there, one of this
    package's when a program first needs it.
    """

    def __init__(self, function: types.FunctionType):
        self.function = function
        self.name = function.__name__
        parameters = inspect.signature(function).parameters.values()
        self.required = tuple(
            "*" + p.name if p.kind is p.VAR_POSITIONAL else p.name for p in parameters if p.default is p.empty
        )
        self.options = tuple((p.name, p.default) for p in parameters if p.default is not p.empty)
        if not function.__module__.startswith("tangentc."):
            self.tree

    @functools.cached_property
    def tree(self) -> ast.FunctionDef:
        try:
            tree: Any = ast.parse(textwrap.dedent(inspect.getsource(self.function))).body[0]
        except (OSError, TypeError, SyntaxError) as error:
            raise BadRule(
                f"the source of the rule {self.name} cannot be found", why=str(error) or "it has none"
            ) from None
        if not isinstance(tree, ast.FunctionDef):
            raise BadRule(f"the rule {self.name} is not a plain function", way_out="write it with def")
        return tree

    @property
    def body(self) -> list[ast.stmt]:
        return self.tree.body

    @functools.cached_property
    def fixed(self) -> set[int]:
        """The arguments that no derivative flows through, as shapes and indices."""
        returned = (n.value for n in ast.walk(self.tree) if isinstance(n, ast.Return))
        tuples = [value.elts for value in returned if isinstance(value, ast.Tuple)]
        return {k for k, _ in enumerate(tuples[0]) if all(_is_none(t[k]) for t in tuples)} if tuples else set()

    def span(self, node: ast.stmt) -> Span:
        """Where a statement of the rule stands."""
        lines, first = inspect.getsourcelines(self.function)
        text = lines[node.lineno - 1]
        indent = len(lines[0]) - len(lines[0].lstrip())
        columns = node.col_offset + indent, (node.end_col_offset or 0) + indent
        return Span(first + node.lineno - 1, *columns, text, self.function.__code__.co_filename, self.name)

    def lookup(self, name: str) -> Any:
        """What a name of the rule's module stands for."""
        cells = inspect.getclosurevars(self.function).nonlocals
        if name in cells:
            return cells[name]
        if name in self.function.__globals__:
            return self.function.__globals__[name]
        import builtins

        return getattr(builtins, name)


def _as_method(function: Any) -> list[tuple[Any, tuple[Any, ...]]]:
    """What a function may be defined as: itself, or a method of the object that it is bound to, or that is called."""
    owner = getattr(function, "__self__", None)
    if isinstance(function, np.ufunc):
        return [(function, ()), ((np.ufunc, "__call__"), (function,))]
    if isinstance(owner, np.ufunc):
        return [((np.ufunc, function.__name__), (owner,))]
    if owner is not None and not isinstance(owner, (type, types.ModuleType)):
        return [(function, ()), (getattr(type(owner), getattr(function, "__name__", ""), None), (owner,))]
    if not isinstance(function, (type, types.FunctionType, types.BuiltinFunctionType, tuple)):
        return [(function, ()), (getattr(type(function), "__call__", None), (function,))]  # noqa: B004
    return [(function, ())]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


@dataclass(frozen=True)
class Definition:
    """What a function computes, in Python; ``always`` says of a call's function and options whether the body stands
    in its place also where no derivative flows through it, as where it changes its arguments."""

    body: types.FunctionType
    always: Callable[[Any, Any], bool]


class Registry:
    """The rules and definitions in the table of operations; SciPy's are added when a program has imported it."""

    def __init__(self) -> None:
        self.version = 0
        self.own: list[tuple[Any, tuple[Any, ...]]] = []  # functions of which the user has said something, and what
        self.awaited: list[str] = []  # once those of NumPy are there
        self.looked_at = 0  # how many modules there were when those of SciPy were last looked for

    def find(self, function: Any) -> Rule | None:
        self._look_for_scipy(function)
        return known_of(function).rule  # type: ignore[no-any-return]

    def _look_for_scipy(self, function: Any = None) -> None:
        if (
            (function is math.gamma or function is math.lgamma)
            and "special" in self.awaited
            and importlib.util.find_spec("scipy")
        ):
            importlib.import_module("scipy.special")  # where their derivative is
        if self.looked_at == len(sys.modules):
            return
        self.looked_at = len(sys.modules)
        found = [n for n in self.awaited if f"scipy.{n}" in sys.modules]
        self.awaited = [n for n in self.awaited if n not in found] if found else self.awaited
        for name in found:
            importlib.import_module(f"tangentc.rules.scipy.{name}")

    def definition(self, function: Any, options: Any = None) -> tuple[types.FunctionType, tuple[Any, ...]] | None:
        """The function in Python that says what ``function`` computes, and the arguments to give it first.

        With ``options``, only if it is always to stand in the place of a call with these.
        """
        self._look_for_scipy()
        for key, first in _as_method(function):
            found = known_of(key).definition
            if first and isinstance(function, np.ufunc) and known_of(function).rule is None:
                continue  # with or without its options, nothing is known of it
            if found is not None and (options is None or found.always(function, options)):
                return found.body, first
        return None

    def add(self, rule: Rule) -> None:
        record_of(rule.function).rule = rule
        self.version += 1
        if not rule.source.startswith("tangentc."):
            formulas = [getattr(f, "function", None) for f in (rule.formula, rule.tangent)]
            self.own.append((rule.function, (rule.kind, rule.linear, rule.singular, rule.real, *formulas)))

    def families(self) -> dict[str, list[Rule]]:
        """The rules by the file that they stand in, for the tests and the reference."""
        out: dict[str, list[Rule]] = {}
        for record in having("rule"):
            out.setdefault(record.rule.source, []).append(record.rule)
        return out


FAMILIES = (
    "arithmetic", "elementary", "reductions", "selection", "linear_algebra", "matrices", "singular_values", "products",
    "shaping", "joining", "rearranging", "sequences", "fourier", "constants",
)  # fmt: skip
SCIPY = (
    "special", "linalg", "stats", "signal", "fft", "interpolate", "sparse", "integrate", "optimize", "ndimage",
    "spatial",
)  # fmt: skip
REGISTRY = Registry()


def load_families() -> None:
    """Register the rules and definitions of NumPy's functions."""
    for family in FAMILIES:
        importlib.import_module(f"tangentc.rules.{family}")
    importlib.import_module("tangentc.rules.definitions").load()
    REGISTRY.awaited, REGISTRY.looked_at = list(SCIPY), 0


def elementwise(
    *functions: Callable[..., Any], domain: Any = None, singular: bool = False, real: bool = False
) -> Callable:
    """Register the partial derivatives of functions that work entry by entry.

    The rule's parameters are the function's arguments and, last, its result; it returns the partial, or
    a tuple of them (None where there is none).  ``domain`` is the interval from which tests draw each
    argument, or a tuple of intervals.  ``singular`` says that a partial can be infinite inside the
    function's own domain, as that of sqrt at 0; ``real`` that it holds for real arguments alone.  Raises
    `BadRule` if the rule cannot be read.

    >>> import numpy as np, tangentc
    >>> def cube(x):
    ...     return np.power(x, 3)
    >>> @tangentc.elementwise(cube)
    ... def cube_rule(x, y):
    ...     return 3 * x ** 2
    >>> float(tangentc.grad(lambda x: cube(x))(2.0))
    12.0
    """

    def register(formula: Any) -> Any:
        parsed = Formula(formula)
        if len(parsed.required) < 2:
            raise BadRule(
                f"the rule {parsed.name} has too few parameters",
                why="an elementwise rule takes the function's arguments and then its result",
                way_out=f"write it as def {parsed.name}(x, y), for y = {parsed.name}(x)",
            )
        for function in functions:
            REGISTRY.add(
                Rule(
                    function, "elementwise", parsed.required[:-1], parsed, parsed.options, domain=domain,
                    source=formula.__module__, singular=singular, real=real,
                )
            )  # fmt: skip
        return formula

    return register


def adjoint_rule(
    *functions: Callable[..., Any], linear: str = "", samples: Any = None, real: bool = False, singular: bool = False,
    covers: Any = None, **only: tuple,
) -> Callable:  # fmt: skip
    """Register the adjoints of functions that are not elementwise.

    The rule's parameters are the function's arguments, its result, the adjoint of the result, and, with
    their defaults, the function's options.  It returns the adjoint of the argument, or a tuple of them.
    ``linear`` ("jointly" or "each") gives forward mode for nothing; without it a `tangent_rule` does.
    ``samples`` is a function of a random generator that gives a list of ``(arguments, options)``; further
    keywords name options, and the values of them that the rule covers.  ``singular`` says that the result divides, so
    that where it does not matter one is put in its place.  ``covers`` is asked with the ranks of the
    arguments (a list of them for a list) and a dict of the options.

    >>> import numpy as np, tangentc
    >>> def double_sum(x):
    ...     return 2 * np.sum(x)
    >>> @tangentc.adjoint_rule(double_sum, linear="jointly")
    ... def double_sum_rule(x, y, y_bar):
    ...     return np.full_like(x, 2 * y_bar)
    >>> tangentc.grad(lambda x: double_sum(x))(np.ones(3))
    array([2., 2., 2.])
    """

    def register(formula: Any) -> Any:
        parsed = Formula(formula)
        if len(parsed.required) < 3:
            raise BadRule(
                f"the rule {parsed.name} has too few parameters",
                why="an adjoint rule takes the function's arguments, its result and the adjoint of the result",
                way_out=f"write it as def {parsed.name}(x, y, y_bar), for y = {parsed.name}(x)",
            )
        if linear not in ("", "jointly", "each"):
            raise BadRule(f"linear={linear!r} means nothing", way_out='write linear="jointly" or linear="each"')
        for function in functions:
            tangent = old.tangent if (old := REGISTRY.find(function)) else None
            REGISTRY.add(
                Rule(
                    function, "adjoint", parsed.required[:-2], parsed, parsed.options, linear, tangent, samples,
                    source=formula.__module__, singular=singular, real=real, only=tuple(only.items()), covers=covers,
                )
            )  # fmt: skip
        return formula

    return register


def tangent_rule(*functions: Callable[..., Any]) -> Callable:
    """Register the tangent of functions that have an `adjoint_rule` already.

    The rule's parameters are the function's arguments, its result, and a tangent for each argument.

    >>> import numpy as np, tangentc
    >>> def norm2(x):
    ...     return np.sum(x * x)
    >>> @tangentc.adjoint_rule(norm2)
    ... def norm2_rule(x, y, y_bar):
    ...     return 2 * y_bar * x
    >>> @tangentc.tangent_rule(norm2)
    ... def norm2_tangent(x, y, x_dot):
    ...     return 2 * np.sum(x * x_dot)
    >>> value, tangent = tangentc.jvp(lambda x: norm2(x), (np.ones(2),), (np.array([1.0, 0.0]),))
    >>> float(tangent)
    2.0
    """

    def register(formula: Any) -> Any:
        parsed = Formula(formula)
        for function in functions:
            rule = REGISTRY.find(function)
            if rule is None:
                raise BadRule(f"{function.__name__} has no adjoint_rule yet", way_out="register its adjoint_rule first")
            REGISTRY.add(replace(rule, tangent=parsed))
        return formula

    return register


def defined(*functions: Any, always: Callable[[Any, Any], bool] = lambda function, options: False) -> Callable:
    """Register what functions compute, written in Python with NumPy, for calls that no rule covers.

    Where a derivative flows through such a call, the body stands in its place; with ``always``, which is asked with
    the function and the options of a call, also where none does.  ``(np.ufunc, "outer")`` stands for that method of
    every ufunc, which is given as the first argument.

    >>> import numpy as np, tangentc
    >>> def energy(x):
    ...     return np.sum(x**2) / 2
    >>> @defined(energy)
    ... def energy_definition(x):
    ...     return np.vdot(x, x) / 2
    """

    def register(definition: Any) -> Any:
        for function in functions:
            record_of(function).definition = Definition(definition, always)
            REGISTRY.version += 1
        return definition

    return register


def operation(*functions: Callable[..., Any], **facts: Any) -> None:
    """Write into the records of functions what is known of them, beside their rules.

    ``pure=True`` says that calling one twice is the same as calling it once, and leaves no trace: the compiler may run
    it on samples to see the type that it gives.  ``new=True`` says that its result is no memory of an argument,
    ``view=True`` that it is, ``keeps_shape=True`` that it has the shape of the first argument, ``cheap=True`` that for
    numbers computing it again costs no more than saving its result, and ``cheap_on_arrays=True`` that it is so for
    arrays.  `tangentc.ops.table.Operation` has all facts.  Raises `TypeError` for what no record has a place for.

    >>> import numpy as np, tangentc
    >>> def decibel(x):
    ...     return 10 * np.log10(x)
    >>> tangentc.operation(decibel, pure=True, new=True)
    """
    say(*functions, **facts)
    REGISTRY.version += 1
    REGISTRY.own += [(f, (facts,)) for f in functions]


def is_definition(function: Any) -> bool:
    """Whether a function or a class stands for one of a library."""
    return (getattr(function, "__module__", None) or "").startswith("tangentc.rules.")


def is_known(x: Any, value: Any) -> bool:
    """In a definition: whether an argument is known, when compiling, to be this constant.

    >>> is_known(1, 1), is_known(1.0, 1)
    (True, False)
    """
    return type(x) is type(value) and x == value


def is_float(x: Any) -> bool:
    """In a definition: whether an argument is known, when compiling, to be made of real numbers in floating point.

    >>> is_float(1.5), is_float(1)
    (True, False)
    """
    return bool(np.asarray(x).dtype.kind == "f")


def static(function: Any) -> Any:
    """A helper of definitions that is worked out while compiling, from ranks and options."""
    function.__tangentc_static__ = True
    return function


def zero_gradient(*functions: Callable[..., Any]) -> None:
    """Register functions whose derivative is zero wherever it exists, or whose result has none.

    >>> import numpy as np, tangentc
    >>> def quantise(x):
    ...     return np.round(x * 8) / 8
    >>> tangentc.zero_gradient(quantise)
    >>> float(tangentc.grad(lambda x: x * quantise(x))(0.5))
    0.5
    """
    frame = inspect.currentframe()
    caller = frame.f_back.f_globals.get("__name__", "") if frame is not None and frame.f_back is not None else ""
    for function in functions:
        REGISTRY.add(Rule(function, "zero", source=caller))
