"""Checks for tests: of a function's derivatives, and of a rule, as the registry's own tests run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tangentc.api import jvp, vjp
from tangentc.core import texts
from tangentc.derivative import Derivative
from tangentc.errors import BadRule
from tangentc.inspection.check import GradientMismatch, check_grads, draw_like, flatten, inner_product, rebuild
from tangentc.inspection.differences import five_point
from tangentc.rules.registry import REGISTRY, Rule

Sample = tuple[tuple[Any, ...], dict[str, Any]]


def assert_gradient(f: Callable[..., Any], *args: Any, **options: Any) -> None:
    """Fail a test where differences contradict the derivatives of ``f`` at ``args``.

    ``options`` are those of `tangentc.check_grads` (``wrt``, ``order``, ``modes``, ``rtol``, ``limit``).  Raises
    `GradientMismatch`, an `AssertionError` with the table and the statement that is wrong; what differences cannot tell
    is a `CannotTell` warning, which ``-W error::tangentc.CannotTell`` makes a failure.

    >>> import numpy as np
    >>> assert_gradient(lambda w, x: np.sum(np.tanh(w * x)), np.ones(3), np.arange(3.0), wrt="w")
    """
    check_grads(f, args, **{"quiet": True, **options})


def check_rule(function: Callable[..., Any], seed: int = 0, second_order: bool = True) -> int:
    """Check the rule of ``function`` on its samples; gives the number of samples.

    In float64: forward mode against five-point differences (relative 1e-8), the dot product of forward and
    reverse mode (1e-12), and the same for the derivative of the adjoint.  In float32: the gradient's
    dtype.  For elementwise rules also scalars, broadcasting of every argument, and arrays of size zero.
    Raises `GradientMismatch` where something disagrees, `BadRule` if there is no rule or no sample.

    >>> import numpy as np
    >>> check_rule(np.tanh) > 0
    True
    """
    rule = REGISTRY.find(function)
    if rule is None or rule.kind == "zero":
        raise BadRule(f"{function.__name__} has no rule to check", way_out="register one first")
    count = 0
    for args, options in samples(rule, seed):
        f = as_function(function, len(args), options, list(args))
        _check(f, args, seed, second_order)
        count += 1
    if not count:
        raise BadRule(
            f"the rule of {function.__name__} has no samples", why="nothing says which arguments to try it on",
            way_out="give samples=... or domain=...",
        )  # fmt: skip
    return count


def samples(rule: Rule, seed: int = 0) -> Iterator[Sample]:
    """The arguments on which a rule is tried."""
    rng = np.random.default_rng(seed)
    if rule.kind == "elementwise":
        yield from _elementwise_samples(rule, rng)
    elif rule.samples is not None:
        yield from rule.samples(rng)


def _elementwise_samples(rule: Rule, rng: np.random.Generator) -> Iterator[Sample]:
    count = len(rule.inputs)
    domain = rule.domain or (-2, 2)
    domains = domain if isinstance(domain[0], tuple) else (domain,) * count
    scalar_only = getattr(rule.function, "__module__", "") in ("math", "cmath")

    def draw(k: int, shape: Any) -> Any:
        low, high = domains[k]  # type: ignore[misc]
        x = rng.uniform(low, high, shape)
        return float(x) if shape == () else x

    shapes: list[tuple] = [((),) * count]
    if not scalar_only and rule.function not in (max, min, pow):
        shapes += [((3, 2),) * count, ((0, 2),) * count, ((9,),) * count]
        if count == 2:
            shapes += [((3, 2), ()), ((), (3, 2)), ((3, 2), (2,)), ((3, 1), (1, 2)), ((2,), (3, 2)), ((3, 1), (3, 2))]
        if count == 3:
            shapes += [((3, 2), (2,), ()), ((3, 1), (), (2,)), ((3, 2), (3, 1), (1, 2))]
    for combination in shapes:
        values = tuple(draw(k, shape) for k, shape in enumerate(combination))
        if rule.function is np.where:
            values = (values[0] > 0, *values[1:]) if combination[0] else (np.array(values[0] > 0), *values[1:])
        yield values, {}


def as_function(function: Any, count: int, options: dict[str, Any], args: list[Any]) -> Any:
    """``def f(x0, x1): return function(x0, x1, axis=0)``, with its source; what cannot move is a constant."""
    names = [f"x{k}" for k in range(count)]
    moving = [n for n, a in zip(names, args, strict=True) if _moves(a)]
    arrays = {f"_{k}": v for k, v in options.items() if isinstance(v, np.ndarray)}
    given = ", ".join([*names, *(f"{k}=_{k}" if f"_{k}" in arrays else f"{k}={v!r}" for k, v in options.items())])
    text = f"def f({', '.join(moving)}):\n    return _function({given})\n"
    fixed = {n: a for n, a in zip(names, args, strict=True) if not _moves(a)}
    for n, a in fixed.items():
        text = text.replace(n, repr(a)) if isinstance(a, (str, int, tuple, type(None))) else text
    namespace: dict[str, Any] = {"_function": function, "__name__": "__main__", **fixed, **arrays}
    texts.run(text, "check of f", namespace)
    return namespace["f"]


def _moves(a: Any) -> bool:
    return bool(list(flatten(a)))


def _check(f: Any, args: tuple[Any, ...], seed: int, second_order: bool) -> None:
    args = tuple(a for a in args if _moves(a))
    rng = np.random.default_rng(seed)
    value = f(*args)
    tangents = tuple(draw_like(a, rng) for a in args)
    cotangent = draw_like(value, rng)
    _first(f, args, tangents, cotangent, "the rule")
    _float32(f, args, value)
    if second_order:
        adjoint: Derivative[..., Any] = Derivative(f, "adjoint", tuple(range(len(args))))
        _second(adjoint, args, tangents, cotangent)


def _first(f: Any, args: Any, tangents: Any, cotangent: Any, what: str) -> None:
    value, tangent = jvp(f, args, tangents)
    _same("the value", value, f(*args), 1e-12)

    def moved(t: float) -> Any:
        return f(*(rebuild(a, iter([x + t * d for (_, x), (_, d) in zip(flatten(a), flatten(v))]))
                   for a, v in zip(args, tangents)))  # fmt: skip

    wanted = [five_point(lambda t, k=k: list(flatten(moved(t)))[k][1], 1e-3) for k in range(len(list(flatten(value))))]  # type: ignore[misc]
    for (path, given), want in zip(flatten(tangent), wanted, strict=True):
        _close(f"{what} in forward mode{path}", given, want, 1e-8)
    _, pullback = vjp(f, *args)
    gradients = pullback(cotangent)
    for a, g in zip(args, gradients, strict=True):
        for (path, x), (_, given) in zip(flatten(a), flatten(g), strict=True):
            if x.shape != given.shape:
                raise GradientMismatch(
                    f"{what} gives a gradient{path} of shape {given.shape} for an argument of {x.shape}"
                )
    forward, reverse = inner_product(cotangent, tangent), sum(inner_product(g, t) for g, t in zip(gradients, tangents))
    scale = sum(float(np.sum(np.abs(x))) for _, x in flatten(gradients)) + abs(forward) + 1.0
    if not abs((forward - reverse).real) <= 1e-12 * scale:  # the real part is what a real-linear map keeps
        raise GradientMismatch(
            f"{what}: forward mode gives {forward}, and reverse mode {reverse}, for the same product"
        )


def _second(adjoint: Any, args: Any, tangents: Any, cotangent: Any) -> None:
    """The tangent of the adjoint against differences of the adjoint."""
    _, computed = jvp(adjoint, (*args, cotangent), (*tangents, None))

    def moved(t: float) -> Any:
        at = [rebuild(a, iter([x + t * d for (_, x), (_, d) in zip(flatten(a), flatten(v))]))
              for a, v in zip(args, tangents)]  # fmt: skip
        return adjoint(*at, cotangent)

    for k, (path, given) in enumerate(flatten(computed)):
        want = five_point(lambda t, k=k: list(flatten(moved(t)))[k][1], 1e-3)  # type: ignore[misc]
        _close(f"the derivative of the adjoint{path}", given, want, 1e-7)


def _float32(f: Any, args: Any, value: Any) -> None:
    small = tuple(
        rebuild(a, iter([x for _, x in flatten(a)])) if not isinstance(a, np.ndarray) else _narrow(a) for a in args
    )
    if not any(isinstance(a, np.ndarray) for a in small):
        return
    value, pullback = vjp(f, *small)
    seed = rebuild(value, iter([np.ones_like(x) for _, x in flatten(value)]))
    for a, g in zip(small, pullback(seed), strict=True):
        if isinstance(a, np.ndarray) and (not isinstance(g, np.ndarray) or g.dtype != a.dtype):
            raise GradientMismatch(f"the gradient of a {a.dtype} argument is {getattr(g, 'dtype', type(g))}")


def _narrow(a: np.ndarray) -> np.ndarray:
    return a.astype({"f": np.float32, "c": np.complex64}.get(a.dtype.kind, a.dtype))


def _same(what: str, given: Any, want: Any, rtol: float) -> None:
    for (path, x), (_, y) in zip(flatten(given), flatten(want), strict=True):
        _close(f"{what}{path}", x, y, rtol)


def _close(what: str, given: Any, want: Any, rtol: float) -> None:
    given, want = np.asarray(given), np.asarray(want)
    if given.shape != want.shape:
        raise GradientMismatch(f"{what} has shape {given.shape}, not {want.shape}")
    scale = float(np.max(np.abs(want), initial=0.0)) + 1.0
    if given.size and not np.max(np.abs(given - want)) <= rtol * scale:
        raise GradientMismatch(f"{what} is {given}, and differences give {want}")
