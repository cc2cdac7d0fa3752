"""Jacobians and Hessians, on top of `jvp`, `vjp` and `grad`.

The shapes are JAX's: the structure of the result, each leaf of it holding the structure of the argument,
whose leaves are arrays of shape ``result.shape + argument.shape``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ParamSpec

import numpy as np

from tangentc.api import adjoint, grad, jvp, vjp
from tangentc.arguments import positions
from tangentc.core.draws import Draws
from tangentc.core.remade import again, travelling
from tangentc.core.types import components, is_container, is_differentiable
from tangentc.core.values import is_array, type_of
from tangentc.derivative import Derivative, fit
from tangentc.errors import BadArgument, NotDifferentiable
from tangentc.rules.definitions.jacobians import INSIDE

P = ParamSpec("P")


def jacfwd(f: Callable[P, Any], wrt: Any = 0) -> Callable[P, Any]:
    """The Jacobian of ``f``, column by column in forward mode: good for few inputs and many outputs.

    ``wrt`` is a parameter's index or name, or a tuple of them; a tuple gives a tuple.  A leaf of the result of
    shape ``s`` and an argument of shape ``t`` give an array of shape ``s + t``.  Raises what `jvp` raises.

    >>> import numpy as np
    >>> jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    def jacobian_of(*args: Any) -> Any:
        g = fit(f, args)
        wanted, single = _wanted(g, wrt, args)
        _refuse_iterators(args)
        draws = Draws(g, args)
        parts = [_columns(g, args, i, draws) for i in wanted]
        if single:
            return parts[0]
        return _across(parts)

    return _named(jacobian_of, "jacfwd", f, wrt)


def jacrev(f: Callable[P, Any], wrt: Any = 0) -> Callable[P, Any]:
    """The Jacobian of ``f``, row by row in reverse mode: good for many inputs and few outputs.

    As `jacfwd` in all else.

    >>> import numpy as np
    >>> jacrev(lambda x: np.array([x[0] * x[1], x[1]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [0., 1.]])
    """

    def jacobian_of(*args: Any) -> Any:
        g = fit(f, args)
        wanted, single = _wanted(g, wrt, args)
        value, pullback = vjp(g, *args)
        parts = [_rows(g, value, pullback, args[i], i) for i in wanted]
        return parts[0] if single else _across(parts)

    return _named(jacobian_of, "jacrev", f, wrt)


jacobian = jacrev


def hessian(f: Callable[P, Any], wrt: Any = 0) -> Callable[P, Any]:
    """The matrix of second derivatives of ``f``, forward over reverse.

    For an argument of shape ``t`` a scalar function gives an array of shape ``t + t``; with a tuple for ``wrt``, or
    a container, entry ``[i][j]`` is the derivative by the i-th and then by the j-th part.  A function with
    a result of shape ``s`` gives ``s + t + t``.  Raises what `grad` and `jvp` raise.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """

    def hessian_of(*args: Any) -> Any:
        g = fit(f, args)
        _refuse_iterators(args)
        draws = Draws(g, args)
        value, _ = vjp(g, *args)  # which leaves the arguments as they are
        draws.again()
        if not is_container(type_of(value)) and np.ndim(value) == 0:
            return jacfwd(grad(g, wrt), wrt)(*args)
        if is_container(type_of(value)):
            raise BadArgument(
                "hessian needs a function whose result is a number or an array",
                why="a container of results has a Hessian for each of its parts", way_out="take the parts one by one",
            )  # fmt: skip
        by = adjoint(g, wrt)
        rows = []
        for index in np.ndindex(*np.shape(value)):
            seed = np.zeros_like(value)
            seed[index] = 1
            draws.again()
            rows.append(jacfwd(by, wrt)(*args, seed))
            if np.iscomplexobj(value):
                draws.again()
                rows[-1] = _with_imaginary(rows[-1], jacfwd(by, wrt)(*args, -1j * seed))
        return _stacked(rows, np.shape(value))

    return _named(hessian_of, "hessian", f, wrt)


def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], wrt: Any = 0) -> Any:
    """The Hessian of ``f`` times a vector, forward over reverse: the derivative of its gradient along ``tangents``.

    ``primals`` are the arguments, ``tangents`` the direction of each, None where it does not move; ``wrt`` says which
    gradient.  Costs a few evaluations of ``f``, whatever the size.  Raises what `grad` and `jvp` raise.

    >>> import numpy as np
    >>> hvp(lambda x: x[0] ** 2 * x[1], (np.array([1.0, 3.0]),), (np.array([1.0, 0.0]),))
    array([6., 2.])
    """
    return jvp(grad(fit(f, primals), wrt), primals, tangents)[1]


hvp.__tangentc_kind__ = "hvp"  # type: ignore[attr-defined]


class Jacobian:
    """A function of derivatives that runs others: what `jacfwd`, `jacrev` and `hessian` give."""

    def __init__(self, function: Callable[..., Any], kind: str, f: Any, wrt: Any):
        self.run, self.asked = function, (kind, f, wrt)

    def __call__(self, *args: Any) -> Any:
        return self.run(*args)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        kind, f, wrt = self.asked
        return f"<{kind} of {getattr(f, '__name__', 'a function')}, wrt {wrt!r}>"

    def __reduce__(self) -> Any:
        kind, f, wrt = self.asked
        return again, (globals()[kind], travelling(f), wrt)


def _named(function: Any, kind: str, f: Any, wrt: Any) -> Any:
    asked, function = wrt, Jacobian(function, kind, f, wrt)
    function.__doc__ = f"The {kind} of {getattr(f, '__name__', 'a function')}, wrt {asked!r}."
    function.__name__ = f"{getattr(f, '__name__', 'function')}_{kind}"
    with contextlib.suppress(TypeError, ValueError):
        function.__signature__ = inspect.signature(f)
        wrt = list(function.__signature__.parameters).index(wrt) if isinstance(wrt, str) else wrt
    if isinstance(wrt, int):
        inside = functools.partial(INSIDE[kind], f, wrt)
        if hasattr(function, "__signature__"):
            inside.__signature__ = function.__signature__  # type: ignore[attr-defined]
        function.__tangentc_function__ = inside  # what is differentiated in its place
    return function


def _wanted(f: Any, wrt: Any, args: tuple) -> tuple[tuple[int, ...], bool]:
    derivative = f if isinstance(f, Derivative) else Derivative(f, "grad")
    names = list(derivative.signature().parameters if f is derivative else derivative._signature().parameters)
    wanted, single = positions(wrt, names, derivative.function)
    for i in wanted:
        if i >= len(args):
            raise BadArgument(
                f"argument {i} of {derivative.function.__name__} is not given", why="the Jacobian is taken by it",
                way_out="give every argument by position",
            )  # fmt: skip
    return wanted, single


def _refuse_iterators(args: tuple) -> None:
    for i, a in enumerate(args):
        if isinstance(a, Iterator):
            raise BadArgument(
                f"argument {i}, {type(a).__name__}, can be run over once",
                why="the function is run for each column", way_out="give it a list",
            )  # fmt: skip


for _function in (jacfwd, jacrev, hessian):
    _function.__tangentc_kind__ = _function.__name__  # type: ignore[attr-defined]


# ------------------------------------------------------------------ structures
def _parts(value: Any) -> list[tuple[Any, Any]]:
    """The keys and parts of a container."""
    return [
        (
            k,
            getattr(value, k)
            if dataclasses.is_dataclass(value) or not isinstance(value, (list, tuple, dict))
            else value[k],
        )
        for k, _ in components(type_of(value))
    ]


def _rebuilt(value: Any, parts: list[Any]) -> Any:
    """A container like ``value`` with other parts."""
    if isinstance(value, dict):
        return dict(zip(value, parts, strict=True))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*parts)
    if isinstance(value, (list, tuple)):
        return type(value)(parts)
    if dataclasses.is_dataclass(value):
        return type(value)(**dict(zip([k for k, _ in _parts(value)], parts, strict=True)))  # type: ignore[arg-type,misc]
    return dict(zip([k for k, _ in _parts(value)], parts, strict=True))


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """``function`` of each numeric leaf; None for other leaves."""
    t = type_of(value)
    if is_container(t):
        return _rebuilt(value, [_mapped(function, part) for _, part in _parts(value)])
    return function(value) if is_differentiable(t) else None


def _leaves(value: Any) -> list[Any]:
    t = type_of(value)
    if is_container(t):
        return [leaf for _, part in _parts(value) for leaf in _leaves(part)]
    return [value] if is_differentiable(t) else []


def _filled(value: Any, leaves: Iterator[Any]) -> Any:
    return _mapped(lambda _: next(leaves), value)


def _unit(leaf: Any, index: tuple[int, ...] | None) -> Any:
    """A leaf of zeros, with a one at ``index``."""
    if not is_array(leaf):
        return type(leaf)(0.0 if index is None else 1.0)
    out = np.zeros_like(leaf)
    if index is not None:
        out[index] = 1
    return out


def _units(value: Any) -> Iterator[tuple[int, tuple[int, ...], Any]]:
    """For each entry of each leaf of a value, the value of zeros with a one there."""
    leaves = _leaves(value)
    for k, leaf in enumerate(leaves):
        for index in np.ndindex(*np.shape(leaf)):
            row = [_unit(other, index if j == k else None) for j, other in enumerate(leaves)]
            yield k, index, _filled(value, iter(row))


# ------------------------------------------------------------------ rows and columns
def _columns(f: Any, args: tuple, i: int, draws: Draws) -> Any:
    """The Jacobian by one argument, from one `jvp` for each of its entries, and two for a complex one."""
    leaves = _leaves(args[i])
    value, tables = None, None

    def along(tangent: Any) -> tuple[Any, list[Any]]:
        tangents = [None] * len(args)
        tangents[i] = tangent
        draws.again()
        value, dot = jvp(f, args, tangents)
        return value, _leaves(dot)

    for k, index, unit in _units(args[i]):
        value, dots = along(unit)
        tables = tables or [[_table(d, x) for x in leaves] for d in dots]
        if np.iscomplexobj(leaves[k]):
            dots = [_of_both(f, d, t, 1j) for d, t in zip(dots, along(_turned(unit, 1j))[1], strict=True)]
        for row, d in zip(tables, dots, strict=True):
            row[k][(..., *index)] = d
    if tables is None:  # there are no entries
        value, dots = along(_mapped(np.zeros_like, args[i]))
        tables = [[_table(d, x) for x in leaves] for d in dots]
    rows = iter(tables)
    return _mapped(lambda _: _plain(_filled(args[i], iter(next(rows)))), value)


def _rows(f: Any, value: Any, pullback: Callable[[Any], tuple], x: Any, i: int) -> Any:
    """The Jacobian by one argument, from one pullback for each entry of the result, and two for a complex one."""
    leaves, results = _leaves(x), _leaves(value)
    tables = [[_table(y, a) for a in leaves] for y in results]
    for k, index, seed in _units(value):
        bars = _leaves(pullback(seed)[i])
        if np.iscomplexobj(results[k]):  # a seed of 1 asks a real number for the real part
            others = _leaves(pullback(_turned(seed, -1j))[i])
            bars = [
                _of_both(f, bar, other, -1j) if np.iscomplexobj(a) else bar + 1j * other
                for a, bar, other in zip(leaves, bars, others, strict=True)
            ]
        for table, bar in zip(tables[k], bars, strict=True):
            table[index] = bar
    rows = iter(tables)
    return _mapped(lambda _: _plain(_filled(x, iter(next(rows)))), value)


def _table(y: Any, x: Any) -> Any:
    """Zeros for the derivatives of ``y`` by ``x``."""
    dtype = np.result_type(_dtype(y), np.complex64) if np.iscomplexobj(x) else _dtype(y)
    return np.zeros(np.shape(y) + np.shape(x), dtype)


def _turned(value: Any, factor: complex) -> Any:
    """A value whose complex parts are multiplied by a factor."""
    return _mapped(lambda part: factor * part if np.iscomplexobj(part) else part, value)


def _of_both(f: Any, one: Any, other: Any, factor: complex) -> Any:
    """The derivative by a complex number z = x + iy, from those along 1 and along ``factor``.

    Of a real result it is d/dx - i d/dy, as `grad` gives it.  Of a complex one the two have to be one complex number,
    as they are for holomorphic functions (Ahlfors, Complex Analysis, 3rd edition, 2.1.2).
    """
    if not np.iscomplexobj(other):
        return one - 1j * other
    if not np.allclose(other, factor * one, rtol=1e-3 if _dtype(one).itemsize < 16 else 1e-8, equal_nan=True):
        raise NotDifferentiable(
            f"the Jacobian of {getattr(f, '__name__', 'a function')}, which is not holomorphic, by a complex argument",
            why="one complex number for each entry does not hold its derivatives by the real and the imaginary part",
            way_out="pass the two parts as arguments, or ask jvp or vjp for a direction",
        )  # fmt: skip
    return one


def _dtype(x: Any) -> Any:
    return x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype


def _plain(x: Any) -> Any:
    """Arrays without axes as numbers."""
    if isinstance(x, np.ndarray):
        return x[()]
    return _mapped(_plain, x) if is_container(type_of(x)) else x


def _across(parts: list[Any]) -> Any:
    """Jacobians by several arguments: at each leaf of the result a tuple of them."""
    first = parts[0]
    if isinstance(first, (list, tuple, dict)) and all(type(p) is type(first) for p in parts):
        keys = list(first) if isinstance(first, dict) else range(len(first))
        return _rebuilt(first, [_across([p[k] for p in parts]) for k in keys])
    return tuple(parts)


def _with_imaginary(real: Any, imaginary: Any) -> Any:
    """What a seed of 1 gives of a complex result, and a seed of -1j: for real arguments its real and imaginary part."""
    if isinstance(real, (list, tuple)):
        return type(real)(_with_imaginary(a, b) for a, b in zip(real, imaginary, strict=True))
    if isinstance(real, dict):
        return {k: _with_imaginary(a, imaginary[k]) for k, a in real.items()}
    return real if np.iscomplexobj(real) else real + 1j * imaginary


def _stacked(rows: list[Any], shape: tuple[int, ...]) -> Any:
    """Results for the entries of an array, along axes in front."""
    first = rows[0]
    if isinstance(first, (list, tuple)):
        return type(first)(_stacked([r[k] for r in rows], shape) for k in range(len(first)))
    if isinstance(first, dict):
        return {k: _stacked([r[k] for r in rows], shape) for k in first}
    return np.array(rows).reshape(shape + np.shape(first))


__all__ = ["hessian", "hvp", "jacfwd", "jacobian", "jacrev"]
