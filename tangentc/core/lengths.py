"""Lengths of axes: numbers, or symbols of which there may be several, and some more: ``n``, ``n - 2``, ``4 n``.

A length is a number when it is below `EXACT`.  A symbol stands for a length of at least so many entries, so that
``n - 2`` is known not to be one: ``n0`` and ``g9`` for `EXACT`, ``s4.0`` for 4; one about which nothing is known has
``many`` False, ``?7 from 3`` for what is another length in each trip of a loop, of at least 3 entries.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

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
    if symbol.startswith(("?", "r")):
        said = re.fullmatch(r"\?\d+ from (\d+)", symbol)
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


def describe_length(d: Dim) -> str:
    if isinstance(d, int):
        return str(d)
    name = f"n{d.symbol.partition('.')[2]}" if d.symbol.startswith("s") else d.symbol
    name = name if d.times == 1 else f"{d.times} {name}"
    return name if not d.offset else f"{name} {'+' if d.offset > 0 else '-'} {abs(d.offset)}"
