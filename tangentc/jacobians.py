"""Jacobians and Hessians, on top of `jvp`, `vjp` and `grad`.

The shapes are JAX's: the structure of the result, each leaf of it holding the structure of the argument,
whose leaves are arrays of shape ``result.shape + argument.shape``.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, ParamSpec

import numpy as np

from tangentc.api import adjoint, grad, jvp, tangents_see, vjp
from tangentc.arguments import in_tuples, with_paths
from tangentc.core.draws import Draws
from tangentc.core.remade import again, travelling
from tangentc.core.tangents import formed, leaves, part, steps
from tangentc.core.types import Type, components, is_container
from tangentc.core.values import is_array, type_of
from tangentc.derivative import Derivative
from tangentc.errors import BadArgument, NotDifferentiable
from tangentc.frontend.callables import fit
from tangentc.rules.definitions.jacobians import INSIDE

P = ParamSpec("P")


def jacfwd(f: Callable[P, Any], wrt: Any = 0) -> Callable[P, Any]:
    """The Jacobian of ``f``, column by column in forward mode: good for few inputs and many outputs.

    ``wrt`` is a parameter's index or name, or a path of attributes, or a tuple of them; a tuple gives a tuple.  A leaf
    of the result of shape ``s`` and an argument of shape ``t`` give an array of shape ``s + t``, and a container or an
    object gives such arrays in the form of its gradient.  Raises what `jvp` raises.

    >>> import numpy as np
    >>> jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    def jacobian_of(*args: Any) -> Any:
        g, args, wanted, single = asked(f, wrt, args)
        refuse_iterators(args)
        draws = Draws(g, args)
        with _looking(wanted, lambda: tangents_see(g, args, tuple({w.position: w for w in wanted}))):
            found = [_columns(g, args, w, draws) for w in wanted]
            return _by_each(found[0][0], [blocks for _, blocks in found], single)

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
        g, args, wanted, single = asked(f, wrt, args)
        value, pullback = vjp(g, *args)
        with _looking(wanted, getattr(pullback, "seeing", contextlib.nullcontext)):
            return _by_each(value, [_rows(g, value, pullback, args, w) for w in wanted], single)

    return _named(jacobian_of, "jacrev", f, wrt)


jacobian = jacrev


def hessian(f: Callable[P, Any], wrt: Any = 0) -> Callable[P, Any]:
    """The matrix of second derivatives of ``f``, forward over reverse.

    For an argument of shape ``t`` a scalar function gives an array of shape ``t + t``; with a tuple for ``wrt``, or
    a container, entry ``[i][j]`` is the derivative by the i-th and then by the j-th part; by an object these are
    dicts, ``["W"]["b"]``.  A function with a result of shape ``s`` gives ``s + t + t``.  Raises what `grad` and `jvp`
    raise.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """

    def hessian_of(*args: Any) -> Any:
        g, args, _, _ = asked(f, wrt, args)
        refuse_iterators(args)
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
    primals, tangents = in_tuples("hvp", primals, tangents)
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
    function = Jacobian(function, kind, f, wrt)
    function.__doc__ = f"The {kind} of {getattr(f, '__name__', 'a function')}, wrt {wrt!r}."
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


class Wanted(NamedTuple):
    """What a Jacobian is taken by: an argument, or a path of attributes in one."""

    position: int
    path: str
    function: str
    name: str  # of the parameter

    def inside(self, t: Type) -> tuple[Type, Callable[[Any], Any]]:
        """The type of it, where the argument has this type, and what takes it out of what was made by the argument."""
        keys, end = steps(t, self.path, self.function)

        def taken(made: Any) -> Any:
            own = t
            for key in keys:
                own, made = dict(components(own))[key], part(own, made, key)
            return made

        return end, taken


def asked(f: Any, wrt: Any, args: tuple) -> tuple[Any, tuple, list[Wanted], bool]:
    """What ``f`` is for these arguments, those it is given and those of its defaults that ``wrt`` names, as the object
    of a bound method; then what ``wrt`` names, and whether that is one."""
    f = fit(f, args)
    derivative = f if isinstance(f, Derivative) else Derivative(f, "grad")
    parameters = list((derivative.signature() if f is derivative else derivative._signature()).parameters.values())
    name = derivative.function.__name__
    positions, paths, single = with_paths(wrt, [p.name for p in parameters], derivative.function)
    if (last := max(positions)) >= len(args):
        left = parameters[len(args) : last + 1]
        if missing := [k for k, p in enumerate(left, len(args)) if p.default is p.empty]:
            raise BadArgument(
                f"argument {missing[0]} of {name} is not given", why="the Jacobian is taken by it",
                way_out="give every argument by position",
            )  # fmt: skip
        f, args = derivative if f is derivative else derivative.function, (*args, *(p.default for p in left))
    return f, args, [Wanted(i, path, name, parameters[i].name) for i, path in zip(positions, paths)], single


def _looking(wanted: list[Wanted], read: Callable[[], Any]) -> Any:
    """Look at no more of objects than is read, and at all where a path may lead to what is not."""
    return contextlib.nullcontext() if any(w.path for w in wanted) else read()


def refuse_iterators(args: tuple) -> None:
    for i, a in enumerate(args):
        if isinstance(a, Iterator):
            raise BadArgument(
                f"argument {i}, {type(a).__name__}, can be run over once",
                why="the function is run for each column", way_out="give it a list",
            )  # fmt: skip


for _function in (jacfwd, jacrev, hessian):
    _function.__tangentc_kind__ = _function.__name__  # type: ignore[attr-defined]


# ------------------------------------------------------------------ rows and columns
def _unit(leaf: Any, index: tuple[int, ...] | None) -> Any:
    """A leaf of zeros, with a one at ``index``."""
    if not is_array(leaf):
        return type(leaf)(0.0 if index is None else 1.0)
    out = np.zeros_like(leaf)
    if index is not None:
        out[index] = 1
    return out


def _units(t: Type, value: Any, wanted: Iterable[int]) -> Iterator[tuple[int, tuple[int, ...], Any]]:
    """For each entry of the wanted leaves of a value, the value of zeros with a one there."""
    held = leaves(t, value, True)
    for k in wanted:
        for index in np.ndindex(*np.shape(held[k])):
            row = (_unit(other, index if j == k else None) for j, other in enumerate(held))
            yield k, index, formed(t, row.__next__, inside=True)


def _places(t: Type, wanted: Wanted) -> list[int]:
    """Which leaves of an argument those are that a Jacobian is taken by."""
    end, taken = wanted.inside(t)
    places = taken(formed(t, itertools.count().__next__, inside=True))
    return leaves(end, places)


def _columns(f: Any, args: tuple, wanted: Wanted, draws: Draws) -> tuple[Any, list[Any]]:
    """The value, and its Jacobian at each of its leaves, from one `jvp` for each entry, and two for a complex one."""
    x = args[wanted.position]
    t = type_of(x)
    held, places = leaves(t, x, True), _places(t, wanted)
    value, tables = None, None

    def along(tangent: Any) -> tuple[Any, list[Any]]:
        tangents = [None] * len(args)
        tangents[wanted.position] = tangent
        draws.again()
        value, dot = jvp(f, args, tangents)
        return value, leaves(type_of(value), dot)

    def empty(value: Any) -> list[dict[int, Any]]:
        return [{k: _table(y, held[k]) for k in places} for y in leaves(type_of(value), value)]

    for k, index, unit in _units(t, x, places):
        value, dots = along(unit)
        tables = tables or empty(value)
        if np.iscomplexobj(held[k]):
            dots = [_of_both(f, d, i, 1j) for d, i in zip(dots, along(_turned(unit, 1j))[1], strict=True)]
        for row, d in zip(tables, dots, strict=True):
            row[k][(..., *index)] = d
    if tables is None:  # there are no entries
        zeros = (_unit(leaf, None) for leaf in held)
        value, _ = along(formed(t, zeros.__next__, inside=True))
        tables = empty(value)
    return value, [_block(wanted.inside(t)[0], y, row.values()) for y, row in _beside(value, tables)]


def _rows(f: Any, value: Any, pullback: Callable[[Any], tuple], args: tuple, wanted: Wanted) -> list[Any]:
    """The Jacobian at each leaf of the value, from one pullback for each entry of it, and two for a complex one."""
    t = type_of(args[wanted.position])
    end, taken = wanted.inside(t)
    held = leaves(end, taken(args[wanted.position]))
    of_value = type_of(value)
    results = leaves(of_value, value, True)
    tables = [[_table(y, a) for a in held] for y in results]

    def bars(seed: Any) -> list[Any]:
        return leaves(end, taken(pullback(seed)[wanted.position]))

    for k, index, seed in _units(of_value, value, range(len(results))):
        found = bars(seed)
        if np.iscomplexobj(results[k]):  # a seed of 1 asks a real number for the real part
            found = [
                _of_both(f, bar, other, -1j) if np.iscomplexobj(a) else bar + 1j * other
                for a, bar, other in zip(held, found, bars(_turned(seed, -1j)), strict=True)
            ]
        for table, bar in zip(tables[k], found, strict=True):
            table[index] = 0.0 if bar is None else bar  # that of what the function does not read
    return [_block(end, y, row) for y, row in _beside(value, tables)]


def _beside(value: Any, tables: list[Any]) -> Iterator[tuple[Any, Any]]:
    """The leaves of a value, each with its tables."""
    return zip(leaves(type_of(value), value), tables, strict=True)


def _block(t: Type, y: Any, tables: Iterable[Any]) -> Any:
    """The derivatives of one leaf ``y`` by an argument of this type: zeros by the integers in it."""
    return _plain(formed(t, iter(tables).__next__, _table(y, 0.0)))


def _by_each(value: Any, blocks: list[list[Any]], single: bool) -> Any:
    """At each leaf of the value its derivative by the argument, or a tuple of those by several."""
    each = iter(blocks[0] if single else zip(*blocks, strict=True))
    return formed(type_of(value), each.__next__)


def _table(y: Any, x: Any) -> Any:
    """Zeros for the derivatives of ``y`` by ``x``."""
    dtype = np.result_type(_dtype(y), np.complex64) if np.iscomplexobj(x) else _dtype(y)
    return np.zeros(np.shape(y) + np.shape(x), dtype)


def _turned(value: Any, factor: complex) -> Any:
    """A value whose complex parts are multiplied by a factor."""
    return _leafwise(lambda part: factor * part if np.iscomplexobj(part) else part, value)


def _leafwise(function: Callable[..., Any], *alike: Any) -> Any:
    """What a function gives of the leaves of values of one structure."""
    t = type_of(alike[0])
    each = zip(*(leaves(t, value, True) for value in alike), strict=True)
    return formed(t, lambda: function(*next(each)), inside=True)


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
    return _leafwise(lambda leaf: leaf[()] if isinstance(leaf, np.ndarray) else leaf, x)


def _with_imaginary(real: Any, imaginary: Any) -> Any:
    """What a seed of 1 gives of a complex result, and a seed of -1j: for real arguments its real and imaginary part."""
    return _leafwise(lambda a, b: a if np.iscomplexobj(a) else a + 1j * b, real, imaginary)


def _stacked(rows: list[Any], shape: tuple[int, ...]) -> Any:
    """Results for the entries of an array, along axes in front."""
    return _leafwise(lambda *each: np.array(each).reshape(shape + np.shape(each[0])), *rows)


__all__ = ["hessian", "hvp", "jacfwd", "jacobian", "jacrev"]
