"""Comparing derivatives with differences."""

from __future__ import annotations

import functools
import inspect
import shutil
import sys
import time
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentc.api import jvp, vjp
from tangentc.core.draws import Draws
from tangentc.core.types import is_differentiable
from tangentc.core.values import is_object, type_of
from tangentc.derivative import Derivative
from tangentc.errors import BadArgument
from tangentc.frontend.callables import fit, python_function
from tangentc.inspection.culprit import first_wrong
from tangentc.inspection.differences import AGREES, CANNOT_TELL, DISAGREES, Finding, compare, five_point, sizes_of
from tangentc.inspection.leaves import flatten, rebuild
from tangentc.runtime import copied
from tangentc.watch.tables import Shown, Table

MOST_ENTRIES = 200
SHARES = {"fwd": 0.2, "rev": 0.6, "second": 0.2}  # of the time, for each kind of derivative


class GradientMismatch(AssertionError):
    """A derivative disagrees with differences; the message says where, and by how much."""


class CannotTell(UserWarning):
    """Differences neither confirm nor contradict a derivative: there is noise, a kink, a jump, chaos or NaN."""


def check_grads(
    f: Callable[..., Any], args: Sequence[Any], order: int = 2, modes: Sequence[str] = ("fwd", "rev"),
    rtol: float = 1e-6, atol: float = 1e-8, seed: int = 0, quiet: bool = False, wrt: Any = None, limit: float = 10.0,
) -> None:  # fmt: skip
    """Compare the derivatives of ``f`` at ``args`` with differences.

    Each argument of ``wrt`` (numbers or names; all that hold floating-point numbers if left out) is moved apart, by
    steps relative to its own size.  Reverse mode is compared entry by entry (200 entries of each argument at the most,
    drawn at random) for a random cotangent, forward mode along a random direction; ``order=2`` does the same with the
    gradient function itself, along a random direction.  The values that both give are compared with what ``f`` gives
    itself.  Arguments and results may be containers.  Parameters that are left to their defaults stay as they are.

    Differences are Ridders', which know their own error.  The verdict of a row is *agrees*; *disagrees*, only where two
    sequences of steps give the same other slope, from the left as from the right; or *cannot tell*, with the reason
    (noise, a kink, a jump, chaos, NaN), which is said in a `CannotTell` warning.  After about ``limit`` seconds the
    entries that are left are not compared, and the table says how many were.

    Prints, for each argument and result, the verdict, what was computed, what differences say, and where; ``quiet``
    leaves that out.  Raises `GradientMismatch` where something disagrees, with the same table and the first statement
    of the adjoint sweep that is wrong; `BadArgument` where no argument holds numbers that can be moved; and whatever
    differentiating ``f`` raises.

    >>> check_grads(lambda x: x * x * x, (2.0,), quiet=True)
    """
    if not isinstance(args, (tuple, list)):
        raise BadArgument(
            f"check_grads is given {type(args).__name__} for the arguments",
            why="it takes them in a tuple", way_out="write check_grads(f, (x,))",
        )  # fmt: skip
    if order not in (1, 2):
        raise BadArgument(
            f"order={order!r} is none that check_grads compares", why="it compares first derivatives, and second ones",
            way_out="say order=1 or order=2, and take check_grads of grad(f) for more",
        )  # fmt: skip
    f = fit(f, args)
    f = python_function(f, "check") if is_object(f) or isinstance(f, types.MethodType) else f
    check = _Check(f, _with_defaults(f, args), _moving(f, args, wrt), rtol, atol, np.random.default_rng(seed), limit)
    if "fwd" in modes:
        check.forward()
    if "rev" in modes:
        check.reverse()
    if order >= 2:
        check.second()
    if not quiet:
        print(check.report)
    if told := check.report.untold:
        warnings.warn(CannotTell("\n".join(told)), stacklevel=2)


def _moving(f: Any, args: Sequence[Any], wrt: Any) -> list[int]:
    """The numbers of the arguments that are moved."""
    can = [i for i, a in enumerate(args) if is_differentiable(type_of(a)) and any(True for _ in flatten(a))]
    names = list(inspect.signature(python_function(f, "check")).parameters)
    asked: list[Any] = can if wrt is None else [wrt] if isinstance(wrt, (int, str)) else list(wrt)
    places: list[Any] = [names.index(str(w)) if w in names else w for w in asked]
    if wrong := [w for w, k in zip(asked, places) if k not in range(len(args))]:
        raise BadArgument(f"wrt={wrong[0]!r} is no argument", why=f"the arguments are {', '.join(names[: len(args)])}")
    if not places or (still := [names[k] for k in places if k not in can]):
        raise BadArgument(
            f"nothing moves in {', '.join(still) if places else 'the arguments'}",
            why="integers, texts and the like have no derivative", way_out="give floats, or arrays of floats",
        )  # fmt: skip
    return places


class _Report(Shown):
    """What differences say, a row for each argument and result."""

    def __init__(self, f: Any, args: Sequence[Any]):
        self.name = getattr(f, "__name__", "f")
        self.rows: list[tuple[str, ...] | str] = []
        self.bad: set[int] = set()
        self.untold: list[str] = []
        parameters = list(inspect.signature(python_function(f, "check")).parameters)
        self.names = [*parameters, *(f"argument {k}" for k in range(len(parameters), len(args)))]

    def add(self, what: str, given: Any, found: Sequence[Finding], entries: Sequence[tuple[int, ...]] | None = None,
            many: int = 0, sizes: Any = 1.0) -> str:  # fmt: skip
        """A row of what was found of a derivative, in the units of its argument; gives what is wrong, or ''."""
        given, sizes = np.asarray(given), np.broadcast_to(sizes, np.shape(given))
        if not found:
            return ""
        k = max(
            range(len(found)), key=lambda k: (RANK[found[k].verdict], _off(found[k], given[k] if entries else given))
        )
        one = found[k]
        own, size = (given[k], sizes[k]) if entries else (given[one.worst], sizes[one.worst])
        value, error = (x[one.worst] / size for x in (np.asarray(one.value), np.asarray(one.error)))
        entry, computed = entries[k] if entries else one.worst, own / size
        relative = abs(computed - value) / abs(value) if value else abs(computed - value)
        if one.verdict == DISAGREES:
            self.bad.add(len(self.rows))
        at = ", ".join(map(str, entry))
        self.rows.append((what, one.verdict, f"{relative:.1e}", at, f"{computed:.8g}", f"{value:.8g}", f"{error:.0e}"))
        if many > len(found):
            self.rows.append(f"{len(found)} of {many} entries of {what.removeprefix('the gradient of ')} were compared")
        place = f" at {entry}" if entry else ""
        if one.verdict == CANNOT_TELL:
            self.untold.append(f"differences cannot tell {what}{place}: {one.why}")
        return f"{what}{place} is {computed}, and differences give {value}" if one.verdict == DISAGREES else ""

    def table(self) -> Table:
        headings = ("", "verdict", "relative", "at", "computed", "differences", "give or take")
        numbers = frozenset({2, 4, 5, 6})
        return Table(
            f"check_grads of {self.name}", headings, list(self.rows), numbers, set(self.bad), list(self.untold),
            below=(4, 5, 6),
        )  # fmt: skip

    def fail(self, message: str, analysis: Callable[[], str] = lambda: "") -> None:
        """Raise, with what is wrong first, then the table, then where the fault begins."""
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        parts = [message, "", self.table().text(width)]
        try:
            found = analysis()
        except Exception:  # what has been found out already is not lost
            found = ""
        raise GradientMismatch("\n".join([*parts, *(["", found] if found else [])]))


RANK = {AGREES: 0, CANNOT_TELL: 1, DISAGREES: 2}


def _off(found: Finding, given: Any) -> float:
    off = np.abs(np.asarray(given) - found.value)
    return float(np.max(np.where(np.isfinite(off), off, np.inf), initial=0.0))


def _with_defaults(f: Any, args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments, with those by position that ``f`` has default values for."""
    parameters = list(inspect.signature(python_function(f, "check")).parameters.values())[len(args) :]
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return (*args, *(p.default for p in by_position if p.default is not p.empty))


def _moved(args: Sequence[Any], i: int, leaf: int, delta: np.ndarray) -> list[Any]:
    leaves = [array for _, array in flatten(args[i])]
    leaves[leaf] = leaves[leaf] + delta
    return [rebuild(a, iter(leaves)) if k == i else a for k, a in enumerate(args)]


def _along(args: Sequence[Any], i: int, direction: Any, t: float) -> list[Any]:
    pairs = zip(flatten(args[i]), flatten(direction), strict=True)
    moved = rebuild(args[i], iter([x + t * y for (_, x), (_, y) in pairs]))
    return [moved if k == i else a for k, a in enumerate(args)]


def draw_like(x: Any, rng: np.random.Generator, scaled: bool = False) -> Any:
    """Random numbers in the structure of ``x``, of the size of its own where ``scaled``."""

    def leaf(a: np.ndarray) -> np.ndarray:
        d = rng.normal(size=a.shape)
        d = d + 1j * rng.normal(size=a.shape) if a.dtype.kind == "c" else d
        return d * sizes_of(a) if scaled else d

    return rebuild(x, iter([leaf(a) for _, a in flatten(x)]))


def inner_product(a: Any, b: Any) -> Any:
    return sum(np.sum(x * y) for (_, x), (_, y) in zip(flatten(a), flatten(b), strict=True))


def bytes_of(x: Any) -> int:
    """Of how many bytes the numbers are that a value is made of: the shortest."""
    kinds = [leaf.dtype.itemsize // (2 if leaf.dtype.kind == "c" else 1) for _, leaf in flatten(x)]
    return 4 if any(k < 8 for k in kinds) else 8


class _Check:
    """The comparisons of one call."""

    def __init__(self, f: Any, args: Sequence[Any], moving: list[int], rtol: float, atol: float, rng: Any,
                 limit: float):  # fmt: skip
        self.f, self.args, self.moving, self.rng, self.limit = f, args, moving, rng, limit
        self.rtol, self.atol = rtol, atol
        self._nearby: Any = None  # the gradients a few roundings away
        self.report, self.draws = _Report(f, args), Draws(f, tuple(args))
        self.bytes_each = bytes_of([*args, self.draws.each(_value)(f, args)])

    def compare(self, g: Callable[[float], Any], given: Any, nearby: Callable[[], Any], floor: float = 0.0) -> Finding:
        return compare(self.draws.each(g), given, self.bytes_each, self.rtol, self.atol, floor, nearby)

    @functools.cached_property
    def a_few_roundings_away(self) -> list[Any]:
        """The arguments, each number a few roundings larger or smaller."""
        rng, eps = np.random.default_rng(1), float(np.finfo(f"f{self.bytes_each}").eps)

        def near(x: np.ndarray) -> np.ndarray:
            return x * (1 + eps * rng.choice([-3, -2, 2, 3], size=x.shape))

        return [rebuild(a, iter([near(x) for _, x in flatten(a)])) for a in self.args]

    def first_wrong(self, cotangent: Any) -> Callable[[], str]:
        return lambda: first_wrong(self.f, self.args, self.moving, cotangent, self.limit)

    def forward(self) -> None:
        """The tangent of the result along a random direction of each argument."""
        for i in self.moving:
            tangents = [draw_like(a, self.rng, True) if k == i else None for k, a in enumerate(self.args)]
            value, computed = self.draws.each(jvp)(self.f, self.args, tangents)
            _compare_values(value, self.draws.each(_value)(self.f, self.args), "jvp")
            moving_parts = {path for path, _ in flatten(value)}
            for path, given in flatten(computed):
                if path not in moving_parts or not given.size:  # that of an integer
                    continue

                def part(t: float, path: str = path, i: int = i, tangents: Any = tangents) -> np.ndarray:
                    return dict(flatten(self.f(*copied(_along(self.args, i, tangents[i], t)))))[path]

                row = f"the tangent of the result{path} along {self.report.names[i]}"

                def nearby(path: str = path, tangents: Any = tangents) -> Any:
                    return dict(flatten(self.draws.each(jvp)(self.f, self.a_few_roundings_away, tangents)[1]))[path]

                if wrong := self.report.add(row, given, [self.compare(part, given, nearby)]):
                    self.report.fail(wrong, self.first_wrong(draw_like(value, self.rng)))

    def reverse(self) -> None:
        """The gradient entry by entry, for a random cotangent."""
        value, pullback = self.draws.each(vjp)(self.f, *self.args)
        _compare_values(value, self.draws.each(_value)(self.f, self.args), "vjp")
        cotangent = draw_like(value, self.rng)
        gradients = pullback(cotangent)
        wrong: list[str] = []
        for i in self.moving:
            found, own = list(flatten(gradients[i])), [path for path, _ in flatten(self.args[i])]
            if len(found) > len(own):  # those of integers beside them
                found = [pair for pair in found if pair[0] in own]
            until = time.monotonic() + self.limit * SHARES["rev"] / len(self.moving)
            for leaf, (path, given) in enumerate(found):
                wrong.append(self.entries(i, leaf, path, given, cotangent, until))
        if any(wrong):
            self.report.fail(next(filter(None, wrong)), self.first_wrong(cotangent))

    def entries(self, i: int, leaf: int, path: str, given: np.ndarray, cotangent: Any, until: float) -> str:
        """Compare the gradient of one array in an argument."""
        _, own = list(flatten(self.args[i]))[leaf]
        if given.shape != own.shape:
            what = f"the gradient of {self.report.names[i]}{path}"
            self.report.rows.append((what, DISAGREES, "", "", f"shape {given.shape}", f"shape {own.shape}", ""))
            return f"{what} has shape {given.shape}, and the argument has {own.shape}"
        sizes, entries = sizes_of(own), list(np.ndindex(given.shape))
        many = len(entries)
        order = self.rng.permutation(many)[:MOST_ENTRIES] if many > MOST_ENTRIES else range(many)
        floor = 1e-3 * float(np.max(np.nan_to_num(np.abs(given) * sizes), initial=0.0))
        compared, scaled, findings = [], [], []
        for entry in (entries[k] for k in order):
            for direction in (1.0, 1j) if given.dtype.kind == "c" else (1.0,):
                unit = np.zeros(given.shape, type(direction))
                unit[entry] = direction * sizes[entry]

                def moved(t: float, unit: Any = unit) -> Any:
                    return np.real(inner_product(cotangent, self.f(*copied(_moved(self.args, i, leaf, t * unit)))))

                def scaled_to(whole: Any, entry: Any = entry, direction: Any = direction) -> float:
                    computed = whole[entry].real if direction == 1.0 else -whole[entry].imag  # du/dx - i du/dy
                    return float(computed * sizes[entry])

                def nearby(scaled_to: Any = scaled_to) -> float:
                    return scaled_to(dict(flatten(self.gradients_nearby(cotangent)[i]))[path])

                compared.append(entry)
                scaled.append(scaled_to(given))
                findings.append(self.compare(moved, scaled[-1], nearby, floor))
            if time.monotonic() > until:
                break
        done = len(set(compared))
        own_sizes = np.array([sizes[entry] for entry in compared])
        what = f"the gradient of {self.report.names[i]}{path}"
        return self.report.add(what, np.array(scaled), findings, compared, many if done < many else 0, own_sizes)

    def gradients_nearby(self, cotangent: Any) -> Any:
        if self._nearby is None:
            self._nearby = self.draws.each(vjp)(self.f, *self.a_few_roundings_away)[1](cotangent)
        return self._nearby

    def second(self) -> None:
        """The tangent of the adjoint function along a random direction of each argument, for a random cotangent."""
        cotangent = draw_like(self.draws.each(_value)(self.f, self.args), self.rng)
        first: Derivative[..., Any] = Derivative(fit(_by_position(self.f), self.args), "adjoint", tuple(self.moving))
        for i in self.moving:
            tangents = [draw_like(a, self.rng, True) if k == i else None for k, a in enumerate(self.args)]
            _, computed = self.draws.each(jvp)(first, (*self.args, cotangent), (*tangents, None))
            for k, (path, given) in enumerate(flatten(computed)):

                def moved(t: float, k: int = k, i: int = i, tangents: Any = tangents) -> Any:
                    return list(flatten(first(*_along(self.args, i, tangents[i], t), cotangent)))[k][1]

                def nearby(k: int = k, tangents: Any = tangents) -> Any:
                    there = (*self.a_few_roundings_away, cotangent)
                    return list(flatten(self.draws.each(jvp)(first, there, (*tangents, None))[1]))[k][1]

                row = f"the second derivative{path} along {self.report.names[i]}"
                if given.size and (wrong := self.report.add(row, given, [self.compare(moved, given, nearby)])):
                    self.report.fail(wrong)


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


__all__ = ["CannotTell", "GradientMismatch", "check_grads", "five_point", "flatten"]
