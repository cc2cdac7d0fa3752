"""Comparing derivatives with differences."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tangentc.api import jvp, vjp
from tangentc.core.draws import Draws
from tangentc.core.types import components, is_container, is_differentiable
from tangentc.core.values import is_array, is_object, type_of
from tangentc.derivative import Derivative, fit
from tangentc.errors import BadArgument
from tangentc.frontend.callables import python_function
from tangentc.inspection.culprit import first_wrong
from tangentc.inspection.differences import five_point
from tangentc.runtime import blank, copied
from tangentc.watch.tables import Shown, Table

MOST_ENTRIES = 200


class GradientMismatch(AssertionError):
    """A derivative disagrees with differences; the message says where, and by how much."""


def check_grads(
    f: Callable[..., Any], args: Sequence[Any], order: int = 2, modes: Sequence[str] = ("fwd", "rev"),
    rtol: float = 1e-6, atol: float = 1e-8, seed: int = 0, quiet: bool = False,
) -> None:  # fmt: skip
    """Compare the derivatives of ``f`` at ``args`` with five-point differences.

    Reverse mode is compared entry by entry (200 entries of each argument at the most, drawn at random) for
    a random cotangent, forward mode along a random direction; ``order=2`` does the same with the gradient
    function itself, along a random direction.  The values that both give are compared with what ``f`` gives
    itself.  Arguments and results may be containers.  Parameters that are left to their defaults stay as they
    are.

    Prints, for each argument and result, the largest difference, where it is, what was computed and what differences
    say; ``quiet`` leaves that out.  Raises `GradientMismatch` where something disagrees, with the same table and the
    first statement of the adjoint sweep that is wrong; and whatever differentiating ``f`` raises.

    >>> check_grads(lambda x: x * x * x, (2.0,), quiet=True)
    """
    if not isinstance(args, (tuple, list)):
        raise BadArgument(
            f"check_grads is given {type(args).__name__} for the arguments",
            why="it takes them in a tuple", way_out="write check_grads(f, (x,))",
        )  # fmt: skip
    f = fit(f, args)
    f = python_function(f, "check") if is_object(f) or isinstance(f, types.MethodType) else f
    rng = np.random.default_rng(seed)
    moving = [i for i, a in enumerate(args) if is_differentiable(type_of(a))]
    args = _with_defaults(f, args)
    report = _Report(f, args, rtol, atol)
    draws = Draws(f, tuple(args))
    if "fwd" in modes:
        _check_forward(f, args, moving, report, rng, draws)
    if "rev" in modes:
        _check_reverse(f, args, moving, report, rng, draws)
    if order >= 2:
        _check_second(f, args, moving, report, rng, draws)
    if not quiet:
        print(report)


class _Report(Shown):
    """The largest differences that were found, a row for each argument and result."""

    def __init__(self, f: Any, args: Sequence[Any], rtol: float, atol: float):
        self.name, self.rtol, self.atol = getattr(f, "__name__", "f"), rtol, atol
        self.rows: list[tuple[str, ...]] = []
        self.bad: set[int] = set()
        parameters = list(inspect.signature(python_function(f, "check")).parameters)
        self.names = [*parameters, *(f"argument {k}" for k in range(len(parameters), len(args)))]

    def add(self, what: str, given: Any, wanted: Any, entries: Sequence[tuple[int, ...]] | None = None) -> str:
        """Compare the entries of a derivative with differences; gives what is wrong, '' if nothing is."""
        given, wanted = np.asarray(given), np.asarray(wanted)
        if given.shape != wanted.shape:
            self.bad.add(len(self.rows))
            self.rows.append((what, "", "", "", f"shape {given.shape}", f"shape {wanted.shape}"))
            return f"{what} has shape {given.shape}, and differences have {wanted.shape}"
        if not given.size:
            return ""
        scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
        with np.errstate(all="ignore"):
            off = np.abs(given - wanted)
            wrong = ~(off <= self.atol * scale + self.rtol * np.abs(wanted))  # NaN never equals a number
            rank = np.where(wrong, np.where(np.isnan(off), np.inf, off + scale), off)
            worst = tuple(map(int, np.unravel_index(int(np.argmax(rank)), off.shape)))
            relative = off[worst] / np.abs(wanted[worst]) if wanted[worst] else off[worst]
        entry = entries[worst[0] if worst else 0] if entries is not None else worst
        found, right = given[worst], wanted[worst]
        at = ", ".join(map(str, entry))
        if np.any(wrong):
            self.bad.add(len(self.rows))
        self.rows.append(
            (self._labelled(what), f"{off[worst]:.1e}", f"{relative:.1e}", at, f"{found:.8g}", f"{right:.8g}")
        )
        place = f" at {entry}" if entry else ""
        return f"{what}{place} is {found}, and differences give {right}" if np.any(wrong) else ""

    def _labelled(self, what: str) -> str:
        """``the gradient of argument 0['w']`` by the name of the argument."""
        head, _, tail = what.partition("argument ")
        number, bracket, path = tail.partition("[")
        return f"{head}{self.names[int(number)]}{bracket}{path}" if tail else what

    def table(self) -> Table:
        headings = ("", "largest difference", "relative", "at", "computed", "differences")
        return Table(f"check_grads of {self.name}", headings, list(self.rows), frozenset({1, 2, 4, 5}), set(self.bad))

    def fail(self, message: str, analysis: Callable[[], str] = lambda: "") -> None:
        """Raise, with what is wrong first, then the table, then where the fault begins."""
        parts = [message, "", self.table().text()]
        try:
            found = analysis()
        except Exception:  # what has been found out already is not lost
            found = ""
        raise GradientMismatch("\n".join([*parts, *(["", found] if found else [])]))


def _with_defaults(f: Any, args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments, with those by position that ``f`` has default values for."""
    parameters = list(inspect.signature(python_function(f, "check")).parameters.values())[len(args) :]
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return (*args, *(p.default for p in by_position if p.default is not p.empty))


def flatten(x: Any) -> Iterator[tuple[str, np.ndarray]]:
    """The numeric leaves of a value, each with its path."""
    t = type_of(x)
    if is_container(t):
        for key, _ in components(t):
            part = getattr(x, key) if isinstance(key, str) and not isinstance(x, dict) else x[key]
            for path, leaf in flatten(part):
                yield f"[{key!r}]{path}", leaf
    elif is_differentiable(t):
        yield "", np.asarray(x.get() if is_array(x) and not isinstance(x, np.ndarray) else x)


def rebuild(x: Any, leaves: Iterator[np.ndarray]) -> Any:
    """A value of the structure of ``x`` with other leaves."""
    t = type_of(x)
    if is_container(t):
        parts = {}
        for key, _ in components(t):
            part = getattr(x, key) if isinstance(key, str) and not isinstance(x, dict) else x[key]
            parts[key] = rebuild(part, leaves)
        if isinstance(x, dict):
            return parts
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return type(x)(*parts.values())
        if isinstance(x, (list, tuple)):
            return type(x)(parts.values())
        new = blank(type(x))  # no __init__, which may take other arguments, and change them
        for key, part in parts.items():
            object.__setattr__(new, key, part)
        return new
    if not is_differentiable(t):
        return x
    leaf = next(leaves)
    if is_array(x):
        return leaf.astype(x.dtype) if isinstance(x, np.ndarray) else type(x)(leaf)
    return type(x)(leaf) if isinstance(x, np.generic) else complex(leaf) if isinstance(x, complex) else float(leaf)


def _moved(args: Sequence[Any], i: int, leaf: int, delta: np.ndarray) -> list[Any]:
    leaves = [array for _, array in flatten(args[i])]
    leaves[leaf] = leaves[leaf] + delta
    return [rebuild(a, iter(leaves)) if k == i else a for k, a in enumerate(args)]


def _along(args: Sequence[Any], tangents: Sequence[Any], t: float) -> list[Any]:
    out = []
    for a, d in zip(args, tangents, strict=True):
        if d is None:
            out.append(a)
            continue
        pairs = zip(flatten(a), flatten(d), strict=True)
        out.append(rebuild(a, iter([x + t * y for (_, x), (_, y) in pairs])))
    return out


def draw_like(x: Any, rng: np.random.Generator) -> Any:
    def leaf(a: np.ndarray) -> np.ndarray:
        d = rng.normal(size=a.shape)
        return d + 1j * rng.normal(size=a.shape) if a.dtype.kind == "c" else d

    return rebuild(x, iter([leaf(a) for _, a in flatten(x)]))


def inner_product(a: Any, b: Any) -> Any:
    return sum(np.sum(x * y) for (_, x), (_, y) in zip(flatten(a), flatten(b), strict=True))


def _step(args: Sequence[Any]) -> float:
    kinds = {leaf.dtype.itemsize // (2 if leaf.dtype.kind == "c" else 1) for a in args for _, leaf in flatten(a)}
    return 1e-3 if 8 in kinds else 1e-2


def _check_forward(
    f: Any, args: Sequence[Any], moving: list[int], report: _Report, rng: Any, draws: Draws
) -> None:  # fmt: skip
    tangents = [draw_like(a, rng) if i in moving else None for i, a in enumerate(args)]
    value, computed = draws.each(jvp)(f, args, tangents)
    _compare_values(value, draws.each(_value)(f, args), "jvp")
    moving_parts = {path for path, _ in flatten(value)}
    for path, given in flatten(computed):
        if path not in moving_parts:  # that of an integer
            continue

        def part(t: float, path: str = path) -> np.ndarray:
            return dict(flatten(f(*copied(_along(args, tangents, t)))))[path]

        if wrong := report.add(f"the tangent of the result{path}", given, five_point(draws.each(part), _step(args))):
            report.fail(wrong, lambda: _first_wrong(f, args, moving, draw_like(value, rng)))


def _first_wrong(f: Any, args: Sequence[Any], moving: list[int], cotangent: Any) -> str:
    return first_wrong(f, args, moving, cotangent, _step(args))


def _check_reverse(
    f: Any, args: Sequence[Any], moving: list[int], report: _Report, rng: Any, draws: Draws
) -> None:  # fmt: skip
    value, pullback = draws.each(vjp)(f, *args)
    _compare_values(value, draws.each(_value)(f, args), "vjp")
    cotangent = draw_like(value, rng)
    gradients = pullback(cotangent)
    wrong: list[str] = []
    for i in moving:
        found, own = list(flatten(gradients[i])), [path for path, _ in flatten(args[i])]
        if len(found) > len(own):  # those of integers beside them
            found = [pair for pair in found if pair[0] in own]
        for leaf, (path, given) in enumerate(found):
            entries = list(np.ndindex(given.shape))
            if len(entries) > MOST_ENTRIES:
                entries = [entries[k] for k in sorted(rng.choice(len(entries), MOST_ENTRIES, replace=False))]
            wanted = []

            def slope_at(entry: tuple, direction: complex, i: int = i, leaf: int = leaf, given: Any = given) -> Any:
                unit = np.zeros(given.shape, type(direction))
                unit[entry] = direction

                def moved(t: float) -> Any:
                    return inner_product(cotangent, f(*copied(_moved(args, i, leaf, t * unit))))

                return np.real(five_point(draws.each(moved), _step(args)))

            for entry in entries:
                slope = slope_at(entry, 1.0)
                if given.dtype.kind == "c":  # du/dx - i du/dy
                    slope = slope - 1j * slope_at(entry, 1j)
                wanted.append(slope)
            computed = np.array([given[entry] for entry in entries])
            if given.ndim == 0:
                computed, wanted = computed[0], wanted[0]
            wrong.append(report.add(f"the gradient of argument {i}{path}", computed, np.asarray(wanted), entries))
    if any(wrong):
        report.fail(next(filter(None, wrong)), lambda: _first_wrong(f, args, moving, cotangent))


def _check_second(
    f: Any, args: Sequence[Any], moving: list[int], report: _Report, rng: Any, draws: Draws
) -> None:  # fmt: skip
    """The tangent of the adjoint function along a random direction, for a random cotangent."""
    value = draws.each(_value)(f, args)
    cotangent = draw_like(value, rng)
    first = Derivative(fit(_by_position(f), args), "adjoint", tuple(moving))
    tangents = [draw_like(a, rng) if i in moving else None for i, a in enumerate(args)]
    _, computed = draws.each(jvp)(first, (*args, cotangent), (*tangents, None))
    for k, (path, given) in enumerate(flatten(computed)):

        def moved(t: float, k: int = k) -> Any:
            return list(flatten(first(*_along(args, tangents, t), cotangent)))[k][1]

        wanted = five_point(draws.each(moved), _step(args))
        if wrong := report.add(f"the second derivative{path}", given, wanted):
            report.fail(wrong)


def _by_position(f: Any) -> Any:
    """The function without parameters that are given by name alone: the seed of its adjoint comes after them."""
    if not any(p.kind is p.KEYWORD_ONLY for p in inspect.signature(python_function(f, "check")).parameters.values()):
        return f

    def called(*args):
        return f(*args)

    return called


def _value(f: Any, args: Sequence[Any]) -> Any:
    """What the function itself gives, for copies: it may change its arguments."""
    return python_function(f, "check")(*copied(tuple(args)))


def _compare_values(given: Any, wanted: Any, what: str) -> None:
    for (path, a), (_, b) in zip(flatten(given), flatten(wanted), strict=True):
        if a.shape != b.shape or not np.allclose(a, b, rtol=np.finfo(a.dtype).eps ** 0.6, equal_nan=True):
            raise GradientMismatch(f"the value{path} that {what} gives is {a}, and the function itself gives {b}")


__all__ = ["GradientMismatch", "check_grads", "five_point", "flatten"]
