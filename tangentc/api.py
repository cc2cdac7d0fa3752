"""What users call."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types as pytypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import numpy as np

from tangentc.analysis.turning import are_complex, complex_results, seen_to_turn
from tangentc.arguments import (
    arrays_of,
    as_seed,
    fingerprint,
    fitted_seed,
    in_tuples,
    is_zero_of_integer,
    own_copy,
    refuse_tables,
    refuse_turned,
    zero_like,
)
from tangentc.backend.tracebacks import locate
from tangentc.compiled import BY_IDENTITY, Compiled, or_raised, seeds_inside
from tangentc.compiler.context import Context
from tangentc.compiler.dispatch import MOST, Dispatch
from tangentc.compiler.front import front_for
from tangentc.core import ops
from tangentc.core.draws import Draws
from tangentc.core.inside import MADE
from tangentc.core.remade import again, travelling
from tangentc.core.tangents import is_plain
from tangentc.core.types import Scalar, Type, is_differentiable
from tangentc.core.values import holds_itself, seeing, type_of, types_of
from tangentc.derivative import Derivative
from tangentc.derive.assemble import make_pair
from tangentc.derive.results import check_result
from tangentc.errors import BadSeed, TangentcError, TurnedComplex, UnsafeMutation, internal
from tangentc.frontend.callables import fit, is_known, plain_name, python_function
from tangentc.integers import settled, with_values
from tangentc.kept.record import compiled as compiled_or_kept
from tangentc.rules.registry import REGISTRY
from tangentc.singular import RAISED, in_numpy, without_raising

P = ParamSpec("P")
R = TypeVar("R")


def grad(
    f: Callable[P, Any], wrt: Any = 0, has_aux: bool = False, check: str | None = None,
    memory: int | str | None = None, kernels: str | None = None, threads: int | None = None, ready: Any = None,
) -> Derivative[P, Any]:  # fmt: skip
    """The gradient of a scalar function, as a function.

    ``wrt`` is a parameter's index or name, or a tuple of them; a tuple gives a tuple of gradients.  Each
    gradient has its parameter's shape, dtype and structure.  With ``has_aux`` the function returns
    ``(value, aux)``, only the value is differentiated, and the derivative gives ``(gradient, aux)``.  Raises
    `NotDifferentiable` if the value is not one real number or the parameter is an integer, and the other subclasses of
    `TangentcError`.  With ``check="finite"`` every statement is watched, and the first adjoint that is NaN or infinite
    raises `NotFinite`, which names the line of ``f``.  With ``memory``, a number of states or of bytes ("200 MB"), the
    outermost loops of ``f`` keep no more than that of what their trips begin with, and run trips again (Griewank and
    Walther, Algorithm 799: Revolve, 2000); `UnsupportedSyntax` says of a loop that it cannot run again.  With
    ``kernels="numba"`` loops over numbers and entries of arrays are functions of their own, which Numba compiles when
    they are first called; what they have no words for stays NumPy's, and what raises is run in NumPy's code, so that
    errors are NumPy's.  Raises `BadArgument` where Numba is not installed.  With ``threads`` so many share the loops
    whose trips do not depend on one another; the same number gives the same sums.  With ``kernels="cuda"``, for arrays
    of CuPy, runs of statements on arrays are kernels of the device; "cuda in order" adds up in one order at index
    arrays too.  ``ready``, a function of an adjoint and its path, "model.weight" say, is called in the emitted text
    where the adjoint of that part is final, and what it gives is returned in its place; with a pair the second
    function is called before the gradient is returned.

    >>> import numpy as np
    >>> def energy(x):
    ...     return np.sum(x * x)
    >>> grad(energy)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Derivative(f, "grad", wrt, has_aux, check, memory, kernels, threads, ready)


def value_and_grad(
    f: Callable[P, R], wrt: Any = 0, has_aux: bool = False, check: str | None = None,
    memory: int | str | None = None, kernels: str | None = None, threads: int | None = None, ready: Any = None,
) -> Derivative[P, tuple[R, Any]]:  # fmt: skip
    """As `grad`, giving ``(value, gradient)``; with ``has_aux``, ``((value, aux), gradient)``.

    >>> def square(x):
    ...     return x * x
    >>> value_and_grad(square)(3.0)
    (9.0, 6.0)
    """
    return Derivative(f, "value_and_grad", wrt, has_aux, check, memory, kernels, threads, ready)


def adjoint(
    f: Callable[..., Any], wrt: Any = 0, kernels: str | None = None, threads: int | None = None
) -> Derivative[..., Any]:
    """The adjoint function ``(*args, out_bar)``: the gradient of ``sum(out_bar * f(*args))``.

    Every argument is given by position.  ``kernels`` compiles loops, see `grad`.  Raises `BadSeed` if ``out_bar`` does
    not have the result's shape.

    >>> import numpy as np
    >>> def double(x):
    ...     return 2 * x
    >>> adjoint(double)(np.ones(2), np.array([1.0, 3.0]))
    array([2., 6.])
    """
    return Derivative(f, "adjoint", wrt, kernels=kernels, threads=threads)


@dataclass(frozen=True)
class _Pair:
    """The emitted primal and adjoint of a function, and what is given to the primal beyond its arguments."""

    function: Any
    primal: Any
    adjoint: Any
    compiled: Compiled
    defaults: tuple[float, ...]
    flags: tuple[bool, ...]  # whether an argument moves


_CALLED: dict[Any, tuple[tuple[Dispatch, Any], ...]] = {}  # what takes the primals of a function, and what is for them


def _taken(f: Any, moving: tuple | None, primals: tuple) -> tuple[Any, tuple]:
    """What was found for such primals before, and all arguments by position; None if no written function takes them.

    ``moving`` is the positions of those with a tangent, None for a pullback, `_by` for one by some of them.
    """
    if type(f) in (*BY_IDENTITY, Derivative):
        for dispatch, found in _CALLED.get((f, moving, len(primals)), ()):
            try:
                bound = dispatch.takes(*primals)
            except Exception:  # the general way says what is wrong
                continue
            if bound is not None:
                return found, bound
    return None, ()


def _take(
    f: Any, moving: tuple | None, primals: tuple, derivative: Derivative, found: tuple[tuple[Dispatch, Any], ...]
) -> None:
    """Let the next call with such primals find this at once."""
    if type(f) in (*BY_IDENTITY, Derivative) and not is_known(derivative.given):
        _CALLED[f, moving, len(primals)] = found
        if len(_CALLED) > 500:
            _CALLED.pop(next(iter(_CALLED)))


def _by(wanted: tuple[int, ...] | None) -> tuple | None:
    return None if wanted is None else ("by", *wanted)


def _as_it_is_now(function: Any, primal: Any, live: Mapping[str, Any]) -> Any:
    """An emitted function that reads the data of the module, also later, as they are now."""
    scope = function.__globals__
    emitted = {n: f for n, f in scope.items() if isinstance(f, pytypes.FunctionType) and f.__globals__ is scope}
    read = {n for f in emitted.values() if f is not primal for n in f.__code__.co_names if n in live}
    if not read:
        return function
    now = {**scope, **{n: own_copy(scope[n]) for n in read}}
    now.update({n: pytypes.FunctionType(f.__code__, now, n, f.__defaults__) for n, f in emitted.items()})
    return now[function.__name__]


def _of_nothing(value: Any) -> Any:
    """The cotangent of what holds no numbers that move."""
    return type(value)() if type(value) in (dict, list, tuple) and not value else None


def vjp(
    f: Callable[..., Any], *primals: Any, copy: bool = True, check: bool = False
) -> tuple[Any, Callable[[Any], tuple]]:
    """``(value, pullback)``; ``pullback(seed)`` gives one cotangent for each primal, in a tuple.

    The cotangent of an integer, a flag or a string is None, that of an empty container an empty container; inside a
    container or an object that of an integer is 0.0.  That of an object is a namespace of its attributes.  A seed may
    have None for a part that has none, and leave out attributes.  A pullback may be called any number of times and
    changes nothing.  What it needs of ``primals`` and of the data that ``f`` reads is copied, so that changing them
    afterwards does no harm; ``copy=False`` leaves that out.  With ``check`` a pullback compares them with what they
    were, and raises `UnsafeMutation` if one has been changed.  Raises `BadSeed` if the seed does not fit the value.

    >>> value, pullback = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> value, pullback(1.0)
    (6.0, (3.0, 2.0))
    """
    try:
        return _vjp(f, primals, copy, check)
    except TurnedComplex:
        with complex_results():
            return _vjp(f, primals, copy, check)


def _pair(derivative: Derivative, types: list[Type], flags: tuple[bool, ...], arrays: str) -> _Pair:
    """The emitted primal and adjoint of a function for arguments of these types."""
    source = derivative.resolve(types)
    types = [*types, *(Scalar("float64", True) for _ in range(seeds_inside(source, types)))]
    name = plain_name(derivative.function)
    names = f"{name}_primal", f"{name}_adjoint"
    moving = flags + (False,) * (len(types) - len(flags))
    defaults = (1.0,) * (len(types) - derivative.arity)

    def write() -> Context:
        with front_for(source, types) as front:
            context = Context(front, arrays)
            context.names.update(names)
            make_pair(context, source, types, moving, names)
            check_result(front.prepare(source, types))
        return context

    compiled = compiled_or_kept(write, source, types, None, arrays, asked=("pair", moving))
    primal = compiled.text.same.get(names[0], names[0])  # written once for several types
    function = compiled.function
    return _Pair(derivative.function, function.__globals__[primal], function, compiled, defaults, flags)


def _pair_for(f: Any, primals: tuple, wanted: tuple[int, ...] | None = None) -> tuple[_Pair | None, tuple]:
    """The pair for these primals, None if nothing in them moves, and all arguments by position."""
    derivative: Derivative[..., Any] = Derivative(fit(f, primals), "vjp", 0 if wanted is None else wanted)
    function = derivative.function
    args = derivative.bind(primals, {})
    store = derivative.code
    refuse_tables(args, list(derivative.signature().parameters), function)
    arrays = arrays_of(args)

    def key() -> Any:
        with store.seeing(as_key=True):
            types = types_of(args)
        return tuple(with_values(types, args, store.options)), REGISTRY.version, arrays, are_complex()

    def settle() -> tuple[_Pair | None, tuple[int, ...]]:
        types = types_of(args)
        flags = tuple(is_differentiable(t) and (wanted is None or i in wanted) for i, t in enumerate(types))
        if not any(flags):
            return None, store.options
        if any(map(holds_itself, types)):
            raise RecursionError
        moving = tuple(i for i, flag in enumerate(flags) if flag)
        return settled(lambda types: _pair(derivative, types, flags, arrays), types, args, moving, store.options)

    found = store.found.get(key())
    if found is not None and found.compiled.is_fresh():
        found.compiled.sync(args)
        made = derivative.taking(found.compiled, key(), args, called=False)
        if made is not None:
            store.dispatches = ((made, found), *(d for d in store.dispatches if d[0] is not made))[:MOST]
        _take(f, _by(wanted), primals, derivative, store.dispatches)
        return found, args
    try:
        found, options = store.look(settle, (function, *args), set(), lambda found: found[0] and found[0].compiled)
        if found is None:
            return None, args
    except TangentcError as error:
        raise error.with_traceback(None) from None
    except Exception as error:
        raise internal(error, function) from error
    if options != store.options:  # what was compiled before was not given their values
        store.dispatches = ()
        _take(f, _by(wanted), primals, derivative, ())
    store.options = options
    store.found[key()] = found
    found.compiled.sync(args)
    return found, args


def vjp_by(f: Callable[..., Any], primals: tuple, wanted: tuple[int, ...] | None) -> tuple[Any, Callable[[Any], tuple]]:
    """As `vjp`, with a pullback that gives the cotangents of the primals at these positions, and None for others."""
    try:
        return _vjp(f, primals, True, False, wanted)
    except TurnedComplex:
        with complex_results():
            return _vjp(f, primals, True, False, wanted)


def _vjp(
    f: Callable[..., Any], primals: tuple, copy: bool, check: bool, wanted: tuple[int, ...] | None = None
) -> tuple[Any, Callable[[Any], tuple]]:  # fmt: skip
    found, args = _taken(f, _by(wanted), primals)
    if found is None:
        found, args = or_raised(lambda: _pair_for(f, primals, wanted), f, primals)
    if found is None:
        value = f(*primals)
        return value, lambda seed: tuple(map(_of_nothing, primals))
    compiled, adjoint = found.compiled, found.adjoint
    read: dict[str, Any] = {}
    if check:
        read = dict(zip(inspect.signature(found.function).parameters, args))
        read.update({name: atom.lookup() for name, atom in compiled.live.items()})
    before = {name: fingerprint(a) for name, a in read.items()}
    with seeing(compiled.seen):
        again = tuple(map(own_copy, args)) if compiled.is_doubtful else ()
        own = tuple(map(own_copy, args)) if copy else args
    draws = compiled.draws(args)
    try:
        with seen_to_turn(compiled.is_doubtful):
            value, saved = found.primal(*own, *found.defaults)
    except RAISED as error:
        locate(error)
        draws.again()
        given_numbers = without_raising(error, found.function, args)
        if given_numbers is args:
            raise
        return _vjp(f, given_numbers[: len(primals)], copy, check, wanted)
    except Exception as error:
        locate(error)
        raise
    if copy and compiled.live:
        kept = {n: a for n, a in compiled.live.items() if n not in compiled.text.blocks}
        adjoint = _as_it_is_now(adjoint, found.primal, kept)
    pullback = _Pullback(found, adjoint, saved, value, own, again, read, before, len(primals), args, draws)
    return own_copy(value) if copy else value, pullback


def _pullback_again(function: Any, args: tuple) -> Any:
    return vjp(function, *args)[1]


@dataclass
class _Pullback:
    """The adjoint function with what its primal saved; it takes the adjoint of the value."""

    pair: _Pair
    adjoint: Callable[..., Any]
    saved: Any
    value: Any
    own: tuple  # the arguments, as the primal was given them
    again: tuple  # copies of them, of a function whose values may turn complex
    read: dict[str, Any]
    before: dict[str, Any]
    count: int  # of the arguments that the caller gave
    args: tuple
    draws: Draws  # what the function drew from, as it was before

    def __call__(self, seed: Any) -> tuple:
        function, value, compiled = self.pair.function, self.value, self.pair.compiled
        seed = fitted_seed(seed, value, (function.__name__, "seed", "result"))
        self.refuse_changed()
        try:
            with seen_to_turn(compiled.is_doubtful):
                given = self.adjoint(self.saved, seed)
            if self.again:
                refuse_turned(given, self.again, function)
        except TurnedComplex:
            with complex_results():
                return _vjp(function, self.again, True, False)[1](seed)
        except RAISED as error:
            locate(error)
            now = compiled.draws(self.args)
            self.draws.again()
            given_again, in_numbers = without_raising(error, function, self.own), in_numpy(seed)
            if given_again is self.own and in_numbers is seed:
                raise
            again = _vjp(function, given_again, True, False)[1]
            now.again()
            return again(in_numbers)[: self.count]
        except Exception as error:
            locate(error)
            raise
        return self.parts(given)

    def parts(self, given: Any) -> tuple:
        """One cotangent for each argument, of what the adjoint gives."""
        parts = iter((given,) if sum(self.pair.flags) == 1 else given)
        return tuple(next(parts) if f else _of_nothing(a) for f, a in zip(self.pair.flags, self.args))[: self.count]

    def seeing(self) -> contextlib.AbstractContextManager[Any]:
        """Look at no more of objects than the function reads."""
        return self.pair.compiled.seeing()

    def __reduce__(self) -> Any:
        return again, (_pullback_again, travelling(self.pair.function), self.args[: self.count])

    def refuse_changed(self) -> None:
        """Refuse a call after something that the primal read has been changed."""
        name = self.pair.function.__name__
        for changed, wanted in self.before.items():
            if fingerprint(self.read[changed]) != wanted:
                raise UnsafeMutation(
                    f"{changed} has been changed since vjp called {name}",
                    why="a pullback is that of the values at the time of the call, and these are not there any more",
                    way_out=f"change a copy, {changed}.copy(), or call vjp again",
                )


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """``(value, tangent)``: the derivative of ``f`` along ``tangents``, of which None is zero.

    The tangent of a container or of an object is what `grad` gives by it: a dict of attributes for an object, in which
    zeros may be left out.  Raises `BadSeed` if a tangent does not fit its primal, or an integer has one.

    >>> jvp(lambda x: x * x, (3.0,), (1.0,))
    (9.0, 6.0)
    """
    primals, tangents = in_tuples("jvp", primals, tangents)
    if len(primals) != len(tangents):
        raise BadSeed(
            f"jvp got {len(primals)} primals and {len(tangents)} tangents", why="each primal has one tangent",
            way_out="give None for a tangent that is zero",
        )  # fmt: skip
    moving = tuple(i for i, t in enumerate(tangents) if t is not None and not is_zero_of_integer(primals[i], t))
    found, bound = _taken(f, moving, primals)
    if found is not None:
        derivative, compiled = found
        if all(_is_like(tangents[i], primals[i]) for i in moving):
            seeds = tuple(as_seed(tangents[i], primals[i]) for i in moving)
        else:
            with compiled.seeing():
                seeds = _tangents(derivative.function, primals, tangents, moving)
    else:
        base = python_function(fit(f, primals), "jvp")
        if not moving:
            value = base(*primals)
            return value, zero_like(value)
        seeds = _tangents(base, primals, tangents, moving)
        derivative, compiled = Derivative(base, "jvp", moving), None
        bound = derivative.bind(primals, {})
    try:
        run = derivative.run if compiled is None else functools.partial(derivative.run_found, compiled)
        value, tangent = run(bound, seeds)
    except TurnedComplex:
        with complex_results():
            value, tangent = derivative.run(bound, seeds)
    if compiled is None:
        _take_push(f, moving, primals, derivative)
    return value, own_copy(tangent)


def _take_push(f: Any, moving: tuple[int, ...], primals: tuple, derivative: Derivative) -> None:
    _take(f, moving, primals, derivative, tuple((d, (derivative, d.compiled)) for d in derivative.code.dispatches))


def compiled_jvp(f: Any, primals: tuple, moving: tuple[int, ...]) -> tuple[Compiled, tuple]:
    """The code that `jvp` runs for tangents at these positions, and all arguments; raises what `jvp` does."""
    found, bound = _taken(f, moving, primals)
    if found is not None:
        return found[1], bound
    derivative: Derivative[..., Any] = Derivative(python_function(fit(f, primals), "jvp"), "jvp", moving)
    bound = derivative.bind(primals, {})
    compiled = derivative.compiled(bound, True)
    compiled.sync(bound)
    _take_push(f, moving, primals, derivative)
    return compiled, bound


def tangents_see(f: Any, primals: tuple, moving: tuple[int, ...]) -> contextlib.AbstractContextManager[Any]:
    """Look at no more of objects among the primals than the function reads."""
    if not any(map(is_plain, map(type_of, primals))):
        return contextlib.nullcontext()
    try:
        return compiled_jvp(f, primals, moving)[0].seeing()
    except TangentcError:  # which `jvp` raises too, or not, where numbers turn complex
        return contextlib.nullcontext()


def _is_like(tangent: Any, primal: Any) -> bool:
    """Whether it is seen at once that a tangent fits a primal."""
    if type(tangent) is np.ndarray is type(primal):
        return tangent.shape == primal.shape
    return type(tangent) is float is type(primal)


def _tangents(base: Any, primals: tuple, tangents: tuple, moving: tuple[int, ...]) -> tuple:
    """The tangents as the code takes them; refuses those of what has none, and those that do not fit their primals."""
    return tuple(
        fitted_seed(tangents[i], primals[i], (f"argument {i} of {base.__name__}", "tangent", "argument"), primals)
        for i in moving
    )


def stop_gradient(x: Any) -> Any:
    """``x`` itself, as a constant: no derivative flows through it.

    >>> float(grad(lambda x: x * stop_gradient(x))(3.0))
    3.0
    """
    return x


for _function in (grad, value_and_grad, adjoint, vjp, jvp):  # what they mean inside a function that is differentiated
    _function.__tangentc_kind__ = _function.__name__  # type: ignore[attr-defined]
MADE.update(grad=grad, value_and_grad=value_and_grad, vjp=vjp, jvp=jvp)
stop_gradient.__tangentc_op__ = ops.stopped  # type: ignore[attr-defined]
