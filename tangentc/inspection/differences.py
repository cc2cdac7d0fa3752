"""Derivatives by differences, with an error of their own, and what they say of a derivative that was computed.

Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", Advances in Engineering Software 4(2), 1982: central
differences of halving steps, extrapolated to the step zero; how much the extrapolations differ is the error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

LEVELS = 5  # steps of one stage, each half of the one before
STARTS = {
    8: (2.0**-5, 2.0**-12, 2.0**-19),
    4: (2.0**-3, 2.0**-7),
}  # by the bytes of a number: the first steps of stages
WEAK = 1e-3  # an error of this share of the derivative says nothing any more
BENEATH = 1e-11  # a slope, for a step as long as the argument, of this share of the value is beneath notice
AGREES, DISAGREES, CANNOT_TELL = "agrees", "disagrees", "cannot tell"


def five_point(g: Callable[[float], np.ndarray], h: float) -> np.ndarray:
    """g'(0) by the five-point stencil (Abramowitz and Stegun 25.3.6)."""
    return (8 * (g(h) - g(-h)) - (g(2 * h) - g(-2 * h))) / (12 * h)


@dataclass(frozen=True)
class Finding:
    """What differences say of a derivative, entry by entry: ``value`` give or take ``error``; ``verdict`` is of all
    entries, ``why`` why nothing can be told, ``worst`` the entry that decides."""

    verdict: str
    value: np.ndarray
    error: np.ndarray
    worst: tuple[int, ...]
    why: str = ""


def ridders(g: Callable[[float], Any], bytes_each: int = 8, shrunk: float = 1.0,
            noise: Any = 0.0) -> Iterator[tuple[Any, Any, float]]:  # fmt: skip
    """Better and better values of g'(0) with their errors, and the size of g; steps are relative to one."""
    value: Any = np.nan
    error: Any = np.inf
    size, eps = 0.0, float(np.finfo(f"f{bytes_each}").eps)
    for start in STARTS[bytes_each]:
        before: list[Any] = []
        for level in range(LEVELS):
            h = start * shrunk / 2**level
            up, down = np.asarray(g(h)), np.asarray(g(-h))
            size = max(size, _largest(up), _largest(down))
            eps = max(eps, float(np.finfo(up.dtype).eps) if up.dtype.kind in "fc" else 0.0)
            row = [(up - down) / (2 * h)]
            for j, old in enumerate(before):
                row.append(row[j] + (row[j] - old) / (4.0 ** (j + 1) - 1))
            for j in range(1, len(row)):
                off = np.maximum(np.abs(row[j] - row[j - 1]), np.abs(row[j] - before[j - 1])) + (eps * size + noise) / h
                better = off < error
                value, error = np.where(better, row[j], value), np.where(better, off, error)
            before = row
            if level:
                yield value, error, size


def compare(g: Callable[[float], Any], given: Any, bytes_each: int = 8, rtol: float = 1e-6, atol: float = 1e-8,
            floor: float = 0.0, nearby: Callable[[], Any] | None = None) -> Finding:  # fmt: skip
    """What differences say of ``given``, which is to be g'(0).

    They confirm it as soon as they are exact enough to; they contradict it only if two sequences of steps give the
    same other value, the slopes from the left and from the right meet, and what is computed a few roundings away, as
    ``nearby`` gives it, is as far off.  ``floor`` is the size of derivatives below which all are one.

    >>> compare(np.sin, 1.0).verdict, compare(np.sin, 1.001).verdict, compare(np.abs, 0.5).verdict
    ('agrees', 'disagrees', 'cannot tell')
    """
    given = np.asarray(given)
    rtol = max(rtol, 10 * float(np.finfo(f"f{bytes_each}").eps) ** 0.5)

    def judged(value: Any, error: Any, size: float) -> tuple[Any, Any, bool]:
        """Where differences confirm a derivative, where they say nothing, and whether they are exact enough."""
        scale = max(_largest(value), floor, size * 1e-8)
        off = np.abs(given - value)
        near = off <= rtol * np.maximum(np.abs(value), np.abs(given)) + atol * scale + 3 * error + BENEATH * size
        return near, error > WEAK * scale, bool(np.all(near & (error <= rtol * scale)))

    with np.errstate(all="ignore"):
        for value, error, size in ridders(g, bytes_each):
            near, weak, exact = judged(value, error, size)
            if exact:
                return Finding(AGREES, value, error, _at(np.abs(given - value)))
        if np.any(~near & ~weak):  # extrapolations of values that are grains of rounding agree by chance
            *_, (again, uncertain, size) = ridders(g, bytes_each, 1.0, _noise(g, bytes_each))
            near_again, weak_again, _ = judged(again, uncertain, size)
            better = ~near & near_again & ~weak_again
            value, error = np.where(better, again, value), np.where(better, uncertain, error)
            near, weak, _ = judged(value, error, size)
        off, wrong = np.abs(given - value), ~near & ~weak
        if not np.any(~near | weak):
            return Finding(AGREES, value, error, _at(off))
        if np.any(wrong):
            worst = _at(np.where(wrong, np.where(np.isfinite(off), off, np.inf), -1.0))
            others = max(_largest(value), 1e3 * floor)
            small = max(abs(given[worst]), abs(value[worst])) < 1e-3 * others and off[worst] < 1e-4 * others
            why = "it is small beside the others" if small else _doubts(g, given, value, error, worst, bytes_each)
            if not why and nearby is not None and not abs(_entry(nearby(), worst) - given[worst]) <= 0.1 * off[worst]:
                why = "rounding: the derivative is another one a few roundings away"
            return Finding(CANNOT_TELL if why else DISAGREES, value, error, worst, why)
        worst = _at(np.where(weak, np.where(np.isnan(error), np.inf, error), -1.0))
        return _one_sided(g, given, value, error, worst, bytes_each)


def _doubts(g: Any, given: Any, value: Any, error: Any, worst: tuple[int, ...], bytes_each: int) -> str:
    """Why differences that contradict a derivative may be wrong, '' if they are not."""
    *_, (again, uncertain, size) = ridders(g, bytes_each, 0.37, _noise(g, bytes_each))
    off, doubt = abs(given - value)[worst], 3 * (uncertain + error)[worst]
    if not size:
        return "the result is zero at each step"
    if not uncertain[worst] <= 0.02 * max(abs(again)[worst], 1e-3 * size):
        return "noise, or a slope that changes faster than the steps"
    if not abs(again - value)[worst] <= 0.1 * min(off, max(abs(value)[worst], doubt)) + doubt:
        return "noise: other steps give another slope"
    if not abs(given - again)[worst] > 2 * doubt:
        return "noise: rounding inside the function is as large"
    if off > 0.5 * max(abs(given[worst]), abs(again[worst])):
        steps = [s / d for s in STARTS[bytes_each] for d in (1, 8)]
        slopes = [((np.asarray(g(h)) - np.asarray(g(-h))) / (2 * h))[worst] for h in steps]
        if any(abs(slope - given[worst]) <= 0.25 * off for slope in slopes):
            return "long and short steps give other slopes"
    middle = np.asarray(g(0.0))[worst]
    gaps = []
    for h in (STARTS[bytes_each][0] / 4, STARTS[bytes_each][-1]):
        right, left = (np.asarray(g(h))[worst] - middle) / h, (middle - np.asarray(g(-h))[worst]) / h
        gaps.append(abs(right - left))
    if gaps[-1] > 0.25 * gaps[0] and gaps[-1] > 100 * error[worst] and gaps[-1] > 0.01 * off:
        return "a kink: the slopes from the left and from the right differ"
    return ""


def _noise(g: Any, bytes_each: int) -> Any:
    """The size of the noise of g near 0 by differences of fourth and fifth order, which what is smooth has not
    (Hamming, "Introduction to Applied Numerical Analysis", 1971; Moré and Wild, "Estimating computational noise",
    2011), and of the least by which its values change.
    """
    middle = np.asarray(g(0.0))
    kind = np.result_type(float, middle)
    grain = np.zeros(middle.shape)
    for power in range(-44, -12, 4):
        for side in (1, -1):
            change = np.abs(np.asarray(g(side * 2.0**power)) - middle)
            grain = np.where(grain == 0, change, np.where(change == 0, grain, np.minimum(grain, change)))
        if np.all(grain > 0):
            break
    found = [grain]
    for step in (STARTS[bytes_each][-1] * share for share in (0.0713, 0.517)):
        values = np.array([np.asarray(g(k * step), dtype=kind) for k in range(-3, 4)])
        orders = [(np.diff(values, k, axis=0), math.comb(2 * k, k)) for k in (4, 5)]
        found += [np.sqrt(np.mean(np.abs(d) ** 2, axis=0) / c) for d, c in orders]
    return np.max(found, axis=0)


def _one_sided(g: Any, given: Any, value: Any, error: Any, worst: tuple[int, ...], bytes_each: int) -> Finding:
    """At the edge of where a function is defined, a slope from within contradicts one that is no number."""
    middle = np.asarray(g(0.0))[worst]
    for sign in (1.0, -1.0):
        slopes = []
        for h in (s * sign for s in (STARTS[bytes_each][0] / 8, STARTS[bytes_each][0] / 16)):
            near, far = np.asarray(g(h))[worst], np.asarray(g(2 * h))[worst]
            slopes.append((4 * near - far - 3 * middle) / (2 * h))
        meet = abs(slopes[0] - slopes[1]) <= WEAK * max(abs(slopes[1]), 1e-8)
        if meet and np.isnan(given[worst]) and np.isnan(np.asarray(g(-sign * STARTS[bytes_each][-1]))[worst]):
            one = np.array(value, copy=True)
            one[worst] = slopes[1]
            return Finding(DISAGREES, one, error, worst)
    steps = [np.asarray(g(h))[worst] for h in (STARTS[bytes_each][-1], -STARTS[bytes_each][-1])]
    why = "NaN near this point" if np.isnan([middle, *steps]).any() else "noise, a jump or chaos: no slope settles"
    return Finding(CANNOT_TELL, value, error, worst, why)


def sizes_of(leaf: np.ndarray) -> np.ndarray:
    """By how much an entry is moved for a step of one: its own size, and a tenth of that of the others at least."""
    sizes = np.abs(leaf)
    whole = np.sqrt(np.mean(sizes**2)) if sizes.size else 0.0
    return np.maximum(sizes, 0.1 * whole if whole and np.isfinite(whole) else 1.0)


def _entry(x: Any, worst: tuple[int, ...]) -> Any:
    return np.asarray(x)[worst]


def _largest(x: Any) -> float:
    finite = np.abs(x)[np.isfinite(x)] if np.ndim(x) else np.abs(x) * np.isfinite(x)
    return float(np.max(finite, initial=0.0)) if np.size(finite) and np.all(np.isfinite(finite)) else 0.0


def _at(rank: Any) -> tuple[int, ...]:
    return tuple(map(int, np.unravel_index(int(np.argmax(rank)), np.shape(rank)))) if np.size(rank) else ()
