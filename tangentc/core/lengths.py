"""Lengths of axes: numbers, or symbols of which there may be several, and some more: ``n``, ``n - 2``, ``4 n``.

A length is a number when it is below `EXACT`.  A symbol stands for a length of at least so many entries, so that
``n - 2`` is known not to be one: ``n0`` and ``g9`` for `EXACT`, ``s4.0`` for 4; one about which nothing is known has
``many`` False, ``?7 from 3`` for what is another length in each trip of a loop, of at least 3 entries.  Of others are
made ``(n0 x n1) from 64``, how many entries an array of these lengths has, and ``(n0 // 3) from 2``, how often three go
into one; with "?" before them, of lengths about which nothing is known.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

ANY = "?of"  # the symbol, with a number, of a length of an argument that may be any
MOST_TIMES = 64  # that one length is another, if it is known as a multiple
EXACT = 8  # lengths below this are compiled for exactly; slices that cut off less than this are sure


@dataclass(frozen=True, slots=True)
class Length:
    """``times`` a symbol, and ``offset`` more."""

    symbol: str
    offset: int = 0
    times: int = 1

    @property
    def least(self) -> int:
        """The least that it may be."""
        return max(self.times * least_of(self.symbol) + self.offset, 0)

    def where(self, size: int) -> int:
        """How long it is where the symbol stands for ``size``."""
        return self.times * size + self.offset

    def of(self, inner: Length) -> Length:
        """The length where the symbol stands for another length."""
        return Length(inner.symbol, self.where(inner.offset), self.times * inner.times)

    @property
    def plural(self) -> bool:
        """Whether it is known to be neither none nor one."""
        return self.least > 1

    @property
    def many(self) -> bool:
        """Whether it is so, and the same wherever it stands."""
        return self.least > 1 and (self.offset > 1 or not self.symbol.startswith("?"))

    def from_(self, least: int) -> Length:
        """The same length, of a symbol of its own, where it is known to be at least so much."""
        return Length(f"{self.symbol} from {least}") if least > 1 else self


@functools.lru_cache(maxsize=4096)
def least_of(symbol: str) -> int:
    """The least that the length of a symbol may be; "?" and "r" stand for any, "?7 from 3" for 3 or more."""
    if symbol.startswith(("?", "r", "(")):
        said = re.fullmatch(r".* from (\d+)", symbol)
        return int(said[1]) if said else 0
    return int(symbol[1:].partition(".")[0]) if symbol.startswith("s") else EXACT


Dim = int | Length


def surely_differ(a: Dim, b: Dim) -> bool:
    """Whether two lengths cannot be the same: a symbol may be any length from its least on, and two lengths of
    arguments that are found to be different have symbols "n" of their own."""
    if isinstance(a, int) and isinstance(b, int):
        return a != b
    if isinstance(a, int) or isinstance(b, int):
        known, other = (a, b) if isinstance(a, int) else (b, a)
        return known < other.times * least_of(other.symbol) + min(other.offset, 0)  # type: ignore[operator]
    if a.symbol == b.symbol:
        fewer, more = sorted((a, b), key=lambda d: d.times)
        gap = Length(a.symbol, more.offset - fewer.offset, more.times - fewer.times)
        return a.many and (a.offset != b.offset if not gap.times else gap.least > 0)
    same = a.offset == b.offset and a.times == b.times
    return same and a.symbol[0] == b.symbol[0] and a.symbol[0] in "ng"


def entries(shape: Iterable[Dim], each: Iterable[Dim] = ()) -> Dim | None:
    """How many entries an array has, in rows of as many as ``each`` says; None where they may not come out even.

    >>> entries([4, Length("n0")], [2]), entries([Length("n0"), Length("n1")], [Length("n1")])
    (Length(symbol='n0', offset=0, times=2), Length(symbol='n0', offset=0, times=1))
    """
    (times, above), (less, below) = _factors(shape), _factors(each)
    if not less or times % less or below - above:
        return None
    if not times:
        return 0
    left = sorted((above - below).elements(), key=str)
    if not left:
        return times // less
    if len(left) == 1:
        d = left[0]
        return replace(d, times=times // less) if not d.offset else d if times == less else None
    unsure = "?" * any(d.symbol.startswith("?") for d in left)
    made = Length(f"{unsure}({' x '.join(map(_said, left))})").from_(math.prod(d.least for d in left))
    return replace(made, times=times // less)


def part(d: Length, count: int) -> Length | None:
    """How often a number of entries goes into a length, None where that is not known."""
    if d.times % count == 0 and d.offset % count == 0:
        return Length(d.symbol, d.offset // count, d.times // count)
    if d.times > 1 or d.offset or d.symbol.startswith("?") or count < 2:
        return None
    return Length(f"({d.symbol} // {count})").from_(d.least // count)


PART = re.compile(r"\((.*) // (\d+)\)(?: from \d+)?")


def least_left(d: Dim, taken: Dim) -> int | None:
    """How many entries there are at least behind some that are taken of a length, as ``n - 2 (n // 3)`` of ``n``; None
    where these may be more than there are."""
    said = PART.fullmatch(taken.symbol) if isinstance(taken, Length) else None
    if said is None or not isinstance(d, Length) or not isinstance(taken, Length):
        return None
    left = d.times - Fraction(taken.times, int(said[2]))
    if d.symbol != said[1] or left < 0 or taken.offset > d.offset:
        return None
    return math.ceil(left * least_of(d.symbol))


def _factors(shape: Iterable[Dim]) -> tuple[int, Counter[Length]]:
    """A product of lengths as a number, and lengths that are no multiples of others."""
    number, found = 1, Counter[Length]()
    for d in shape:
        if isinstance(d, int):
            number *= d
        elif d.offset:
            found[d] += 1
        else:
            number *= d.times
            found[replace(d, times=1)] += 1
    return number, found


def _said(d: Length) -> str:
    return f"{d.times}*{d.symbol}{d.offset:+}" if d.offset else d.symbol


FACTORS = re.compile(r"\??\(([^()]*)\)(?: from \d+)?")  # of a length that is a product
FACTOR = re.compile(r"(?:(\d+)\*)?([^*+-]+)([+-]\d+)?")


def actual(d: Dim, sizes: Mapping[str, int]) -> int | None:
    """How long it is where symbols stand for these lengths, None where that is not known."""
    if isinstance(d, int):
        return d
    if d.symbol in sizes:
        return d.where(sizes[d.symbol])
    if (whole := PART.fullmatch(d.symbol)) and (n := actual(Length(whole[1]), sizes)) is not None:
        return d.where(n // int(whole[2]))
    found = [FACTOR.fullmatch(f) for f in m[1].split(" x ")] if (m := FACTORS.fullmatch(d.symbol)) else []
    if not all(f is not None and f[2] in sizes for f in found) or not found:
        return None
    return d.where(math.prod(int(f[1] or 1) * sizes[f[2]] + int(f[3] or 0) for f in found if f is not None))


def describe_length(d: Dim) -> str:
    if isinstance(d, int):
        return str(d)
    if product := FACTORS.fullmatch(d.symbol):
        return product[1] if d.times == 1 else f"{d.times} x {product[1]}"
    name = f"n{d.symbol.partition('.')[2]}" if d.symbol.startswith("s") else d.symbol
    name = name if d.times == 1 else f"{d.times} {name}"
    return name if not d.offset else f"{name} {'+' if d.offset > 0 else '-'} {abs(d.offset)}"
