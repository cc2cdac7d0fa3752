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

from tangentc.api import adjoint, compiled_jvp, grad, jvp, tangents_see, vjp, vjp_by
from tangentc.arguments import in_tuples, with_paths
from tangentc.core.draws import Draws
from tangentc.core.remade import again, travelling
from tangentc.core.tangents import formed, leaves, part, steps
from tangentc.core.types import Type, components, is_container, is_differentiable
from tangentc.core.values import type_of
from tangentc.derivative import Derivative
from tangentc.directions import Code, Units, checked_batch, dtype_of, images, leafwise, texts_of
from tangentc.errors import BadArgument, NotDifferentiable, TangentcError, TurnedComplex
from tangentc.frontend.callables import fit
from tangentc.rules.definitions.jacobians import INSIDE

P = ParamSpec("P")


def jacfwd(f: Callable[P, Any], wrt: Any = 0, batch: int | None = None) -> Callable[P, Any]:
    """The Jacobian of ``f`` by its columns, in forward mode: good for few inputs and many outputs.

    ``wrt`` is a parameter's index or name, or a path of attributes, or a tuple of them; a tuple gives a tuple.  A leaf
    of the result of shape ``s`` and an argument of shape ``t`` give an array of shape ``s + t``, and a container or an
    object gives such arrays in the form of its gradient.  The columns are computed at once, by the push-forward
    vectorised over its tangent, so many that the arrays of it stay small; ``batch`` says how many, and 1 is one after
    the other, as it is where there is no code for a batch.  Raises what `jvp` raises, and `BadArgument` for a ``batch``
    below 1.

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
            found = [_columns(g, args, w, draws, batch) for w in wanted]
            return _by_each(found[0][0], [blocks for _, blocks in found], single)

    batch = checked_batch(batch)
    return _named(jacobian_of, "jacfwd", f, wrt, batch)


def jacrev(f: Callable[P, Any], wrt: Any = 0, batch: int | None = None) -> Callable[P, Any]:
    """The Jacobian of ``f`` by its rows, in reverse mode: good for many inputs and few outputs.

    As `jacfwd` in all else: the rows are computed at once, by the pull-back vectorised over its seed.

    >>> import numpy as np
    >>> jacrev(lambda x: np.array([x[0] * x[1], x[1]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [0., 1.]])
    """

    def jacobian_of(*args: Any) -> Any:
        g, args, wanted, single = asked(f, wrt, args)
        value, pullback = vjp_by(g, args, positions(args, wanted))
        with _looking(wanted, getattr(pullback, "seeing", contextlib.nullcontext)):
            return _by_each(value, _rows(g, value, pullback, args, wanted, batch), single)

    batch = checked_batch(batch)
    return _named(jacobian_of, "jacrev", f, wrt, batch)


jacobian = jacrev


def hessian(f: Callable[P, Any], wrt: Any = 0, batch: int | None = None) -> Callable[P, Any]:
    """The matrix of second derivatives of ``f``, forward over reverse: the Jacobian of its gradient.

    For an argument of shape ``t`` a scalar function gives an array of shape ``t + t``; with a tuple for ``wrt``, or
    a container, entry ``[i][j]`` is the derivative by the i-th and then by the j-th part; by an object these are
    dicts, ``["W"]["b"]``.  A function with a result of shape ``s`` gives ``s + t + t``.  ``batch`` is that of
    `jacfwd`.  Raises what `grad` and `jvp` raise.

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
            return jacfwd(grad(g, wrt), wrt, batch)(*args)
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
            rows.append(jacfwd(by, wrt, batch)(*args, seed))
            if np.iscomplexobj(value):
                draws.again()
                rows[-1] = _with_imaginary(rows[-1], jacfwd(by, wrt, batch)(*args, -1j * seed))
        return _stacked(rows, np.shape(value))

    batch = checked_batch(batch)
    return _named(hessian_of, "hessian", f, wrt, batch)


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
    """A function of derivatives that runs others."""

    def __init__(self, function: Callable[..., Any], kind: str, f: Any, wrt: Any, batch: int | None = None):
        self.run, self.asked, self.batch = function, (kind, f, wrt), batch

    def __call__(self, *args: Any) -> Any:
        return self.run(*args)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        kind, f, wrt = self.asked
        return f"<{kind} of {getattr(f, '__name__', 'a function')}, wrt {wrt!r}>"

    def __reduce__(self) -> Any:
        kind, f, wrt = self.asked
        return again, (globals()[kind], travelling(f), wrt, self.batch)


class DenseJacobian(Jacobian):
    """What `jacfwd`, `jacrev` and `hessian` give."""

    def source_for(self, *args: Any) -> str:
        """The emitted text for arguments of these types: of the push-forward for a batch of tangents, or of the primal
        and the adjoint, and the adjoint for a batch of seeds; without a batch where rows or columns are computed one
        after the other.  Runs the function, for a pull-back is compiled for what its primal saved.

        >>> import numpy as np
        >>> print(jacfwd(lambda x: x * x).source_for(np.ones(9)))
        def lambda__jvp_vmap(x, x_dot):
            \"\"\"lambda__jvp for a batch of examples.\"\"\"
            return x * x, 2 * x * x_dot
        <BLANKLINE>
        """
        return texts_of(lambda: self.run(*args))


def _named(function: Any, kind: str, f: Any, wrt: Any, batch: int | None) -> Any:
    function = DenseJacobian(function, kind, f, wrt, batch)
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


def positions(args: tuple, wanted: list[Wanted]) -> tuple[int, ...] | None:
    """Which arguments a pullback is to be by, None for all where none of those moves."""
    found = tuple(sorted({w.position for w in wanted}))
    return found if any(is_differentiable(type_of(args[k])) for k in found) else None


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
SHARED = None, 0  # the axes of a value that is the same along all tangents, and of its derivatives along them


def _places(t: Type, wanted: Wanted) -> list[int]:
    """Which leaves of an argument those are that a Jacobian is taken by."""
    end, taken = wanted.inside(t)
    places = taken(formed(t, itertools.count().__next__, inside=True))
    return leaves(end, places)


def _columns(f: Any, args: tuple, wanted: Wanted, draws: Draws, batch: int | None) -> tuple[Any, list[Any]]:
    """The value, and its Jacobian at each of its leaves, from the tangents along the units of the argument."""
    x = args[wanted.position]
    t = type_of(x)
    units, value = Units(t, x, _places(t, wanted)), None
    tables: list[dict[int, Any]] = []
    code = _push_forward(f, args, wanted.position)

    def along(tangent: Any) -> list[Any]:
        nonlocal value
        tangents = [None] * len(args)
        tangents[wanted.position] = tangent
        draws.again()
        value, dot = jvp(f, args, tangents)
        return leaves(type_of(value), dot)

    def of_batch(found: tuple[Any, Any]) -> list[Any]:
        nonlocal value
        if code is not None and code.way == SHARED:
            value = found[0]
        elif value is None:
            along(units.zeros())
        return leaves(type_of(value), found[1])

    if not units.count:
        along(units.zeros())
    for k, entries, dots, aside in images(units, along, code, of_batch, 1j, batch):
        tables = tables or _empty(value, units)
        if aside is not None:
            dots = [_of_both(f, d, i, 1j) for d, i in zip(dots, aside, strict=True)]
        for y, row, d in _beside(value, tables, dots):
            row[k].reshape(*np.shape(y), np.size(units.held[k]))[..., entries] = np.moveaxis(d, 0, -1)
    of_each = _beside(value, tables or _empty(value, units))
    return value, [_block(wanted.inside(t)[0], y, row.values()) for y, row in of_each]


def _empty(value: Any, units: Units) -> list[dict[int, Any]]:
    return [{k: _table(y, units.held[k]) for k in units.wanted} for y in leaves(type_of(value), value)]


def _push_forward(f: Any, args: tuple, position: int) -> Code | None:
    """The code of the push-forward by one argument, None where `jvp` goes another way."""
    try:
        compiled, bound = compiled_jvp(f, args, (position,))
    except (TangentcError, TurnedComplex):
        return None
    return Code(compiled, compiled.function, (*bound, *compiled.seeds), (SHARED, 0), args[position])


def _rows(f: Any, value: Any, pullback: Any, args: tuple, wanted: list[Wanted], batch: int | None) -> list[list[Any]]:
    """The Jacobians by what is wanted, each at the leaves of the value, from the cotangents along the units of it."""
    t = type_of(value)
    units = Units(t, value, range(len(leaves(t, value, True))))
    ends = [(*w.inside(type_of(args[w.position])), w.position) for w in wanted]

    def of_args(bars: tuple) -> list[Any]:
        return [leaf for end, taken, position in ends for leaf in leaves(end, taken(bars[position]))]

    held = of_args(args)
    tables = [[_table(y, a) for a in held] for y in units.held]
    pair = getattr(pullback, "pair", None)
    code = None if pair is None else Code(pair.compiled, pair.adjoint, (pullback.saved,), (0,), pullback.value, True)
    parts = (lambda given: of_args(pullback.parts(given))) if pair is not None else of_args
    for k, entries, bars, aside in images(units, lambda seed: of_args(pullback(seed)), code, parts, -1j, batch):
        if aside is not None:  # a seed of 1 asks a real number for the real part
            bars = [
                _of_both(f, bar, other, -1j) if np.iscomplexobj(a) else bar + 1j * other
                for a, bar, other in zip(held, bars, aside, strict=True)
            ]
        for a, table, bar in zip(held, tables[k], bars, strict=True):
            table.reshape(np.size(units.held[k]), *np.shape(a))[entries] = bar
    counts = [len(leaves(end, taken(args[position]))) for end, taken, position in ends]
    starts = [0, *itertools.accumulate(counts)]
    return [
        [_block(end, y, row[first:last]) for y, row in _beside(value, tables)]
        for (end, *_), (first, last) in zip(ends, itertools.pairwise(starts), strict=True)
    ]


def _beside(value: Any, *of_leaves: list[Any]) -> Iterator[tuple[Any, ...]]:
    """The leaves of a value, each with what belongs to it."""
    return zip(leaves(type_of(value), value), *of_leaves, strict=True)


def _block(t: Type, y: Any, tables: Iterable[Any]) -> Any:
    """The derivatives of one leaf ``y`` by an argument of this type: zeros by the integers in it."""
    return _plain(formed(t, iter(tables).__next__, _table(y, 0.0)))


def _by_each(value: Any, blocks: list[list[Any]], single: bool) -> Any:
    """At each leaf of the value its derivative by the argument, or a tuple of those by several."""
    each = iter(blocks[0] if single else zip(*blocks, strict=True))
    return formed(type_of(value), each.__next__)


def _table(y: Any, x: Any) -> Any:
    """Zeros for the derivatives of ``y`` by ``x``."""
    dtype = np.result_type(dtype_of(y), np.complex64) if np.iscomplexobj(x) else dtype_of(y)
    return np.zeros(np.shape(y) + np.shape(x), dtype)


def _of_both(f: Any, one: Any, other: Any, factor: complex) -> Any:
    """The derivative by a complex number z = x + iy, from those along 1 and along ``factor``.

    Of a real result it is d/dx - i d/dy, as `grad` gives it.  Of a complex one the two have to be one complex number,
    as they are for holomorphic functions (Ahlfors, Complex Analysis, 3rd edition, 2.1.2).
    """
    if not np.iscomplexobj(other):
        return one - 1j * other
    if not np.allclose(other, factor * one, rtol=1e-3 if dtype_of(one).itemsize < 16 else 1e-8, equal_nan=True):
        raise NotDifferentiable(
            f"the Jacobian of {getattr(f, '__name__', 'a function')}, which is not holomorphic, by a complex argument",
            why="one complex number for each entry does not hold its derivatives by the real and the imaginary part",
            way_out="pass the two parts as arguments, or ask jvp or vjp for a direction",
        )  # fmt: skip
    return one


def _plain(x: Any) -> Any:
    """Arrays without axes as numbers."""
    return leafwise(lambda leaf: leaf[()] if isinstance(leaf, np.ndarray) else leaf, x)


def _with_imaginary(real: Any, imaginary: Any) -> Any:
    """What a seed of 1 gives of a complex result, and a seed of -1j: for real arguments its real and imaginary part."""
    return leafwise(lambda a, b: a if np.iscomplexobj(a) else a + 1j * b, real, imaginary)


def _stacked(rows: list[Any], shape: tuple[int, ...]) -> Any:
    """Results for the entries of an array, along axes in front."""
    return leafwise(lambda *each: np.array(each).reshape(shape + np.shape(each[0])), *rows)


__all__ = ["hessian", "hvp", "jacfwd", "jacobian", "jacrev"]
