"""The unit directions of a value, one for each of its entries, and what a push-forward or a pull-back gives along them.

The written code is vectorised over its seed, so that many directions are one batch: what does not depend on the seed is
computed once.  Where there is no code for a batch, one direction comes after the other.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tangentc.arguments import arrays_of
from tangentc.compiled import Compiled
from tangentc.core.lengths import actual
from tangentc.core.tangents import completed, formed, leaves
from tangentc.core.types import Array, Struct, Type, is_array_of_a_class, is_container
from tangentc.core.values import is_array, type_of
from tangentc.errors import BadArgument, TangentcError
from tangentc.vectorised import Vectorised

FEWEST = 4  # directions that are worth a batch
MOST_BYTES = 2**20  # that the largest array of a batch has
MOST_KEPT = 500  # lengths of arrays for which the size of a batch is kept
MOST_FORMS = 8  # for which one code is vectorised: lists of other lengths are other types


TEXTS: ContextVar[list[str] | None] = ContextVar("TEXTS", default=None)  # of the code that is run, if that is asked
X = TypeVar("X")


class Units:
    """The unit directions of the wanted leaves of a value, leaf by leaf, in the order of C in each."""

    def __init__(self, t: Type, value: Any, wanted: Iterable[int]):
        self.type, self.value = t, value
        self.held = leaves(t, value, True)
        self.wanted = [*wanted]
        self.starts = [0, *accumulate(np.size(self.held[k]) for k in self.wanted)]

    @property
    def count(self) -> int:
        return self.starts[-1]

    def spans(self, first: int, end: int) -> Iterator[tuple[int, slice, slice]]:
        """The leaves of which some directions are units: of which entries, and which of these directions."""
        for k, (start, stop) in zip(self.wanted, pairwise(self.starts), strict=True):
            low, high = max(first, start), min(end, stop)
            if low < high:
                yield k, slice(low - start, high - start), slice(low - first, high - first)

    def one(self, row: int) -> Any:
        """One direction: the value of zeros with a one at an entry."""
        parts = [_zero(leaf) for leaf in self.held]
        for k, entries, _ in self.spans(row, row + 1):
            if is_array(parts[k]):
                parts[k][np.unravel_index(entries.start, parts[k].shape)] = 1
            else:
                parts[k] = type(parts[k])(1.0)
        return formed(self.type, iter(parts).__next__, inside=True)

    def zeros(self) -> Any:
        return formed(self.type, map(_zero, self.held).__next__, inside=True)

    def many(self, first: int, end: int) -> Any:
        """Some directions as one value, whose leaves have an axis for them in front."""
        parts = [np.zeros((end - first, *np.shape(leaf)), dtype_of(leaf)) for leaf in self.held]
        for k, entries, rows in self.spans(first, end):
            flat = parts[k].reshape(end - first, -1)
            flat[np.arange(rows.start, rows.stop), np.arange(entries.start, entries.stop)] = 1
        return formed(self.type, iter(parts).__next__, inside=True)


class Images(NamedTuple):
    """What is found along the units of some entries of a leaf, with an axis for these in front of each leaf of it."""

    leaf: int
    entries: slice
    along: list[Any]
    along_turned: list[Any] | None  # along the units times a factor, of a complex leaf


class Code(NamedTuple):
    """Written code that is linear in its last argument: a push-forward, or a pull-back."""

    home: Compiled
    function: Callable[..., Any]
    shared: tuple[Any, ...]  # the arguments before it
    out_axes: tuple[Any, ...]  # of the results of a batch: one way after the other, where there is no code for one
    value: Any  # of which the last argument has the structure
    is_second: bool = False  # whether it needs what other code saved, that stands in the same text

    @property
    def is_batched(self) -> bool:
        """Whether code for a batch may be asked for: of calls of NumPy alone, which give the same for the same
        arguments, and of seeds that are arrays in containers."""
        text, facts = self.home.text, self.home.facts
        differs = self.home.is_doubtful or facts.is_drawing or facts.put or facts.changed_outside
        if self.way is None or differs or text.is_compiled or text.is_of_device:
            return False
        return arrays_of(self.shared) == "numpy" and _is_of_arrays(type_of(self.value))

    @property
    def way(self) -> Any:
        """The axes of the results of a batch, None where there is no code for one."""
        return self.out_axes[self.home.refused] if self.home.refused < len(self.out_axes) else None

    def tried(self, seeds: Any, use: Callable[[Vectorised, tuple[Any, ...]], X]) -> X | None:
        """What is made of the code for many seeds at once, and its arguments; None where there is no such code."""
        t = type_of(self.value)
        axes = formed(t, lambda: 0, inside=True)
        args = (*self.shared, completed(t, self.value, seeds, ("", "seed", "result")))
        made = self.home.batches
        while (way := self.way) is not None:
            if (key := (repr(axes), way)) not in made:
                made[key] = Vectorised(self.function, (*(None,) * len(self.shared), axes), way)
            if len(made[key].code.found) <= MOST_FORMS:
                with contextlib.suppress(TangentcError):
                    return use(made[key], args)
            self.home.refused += 1
        return None

    def along(self, seeds: Any) -> Any:
        """What the code gives along many seeds; None where there is no code for a batch, or it raises something."""
        with contextlib.suppress(Exception):  # one direction after the other says what is wrong, if anything is
            return self.tried(seeds, lambda batch, args: batch(*args))
        return None

    def texts(self, at_once: bool) -> list[str]:
        """The text of the code, for many seeds at once or for one."""
        last = [
            b.last.text.whole for (_, way), b in self.home.batches.items() if way == self.way and b.last is not None
        ]
        return [*([self.home.text.whole] if self.is_second or not at_once else []), *(last[-1:] if at_once else [])]

    def width(self, seeds: Any, count: int) -> int | None:
        """How many bytes the largest array of a batch has for one of so many seeds; None where there is no code."""
        key = count, *_shapes(self.shared)
        if key not in self.home.widths and len(self.home.widths) < MOST_KEPT:
            found = self.tried(seeds, lambda batch, args: _width(batch.compiled(args, True), args, count))
            if found is None:
                return None
            self.home.widths[key] = found
        return self.home.widths.get(key, 0)


def _width(compiled: Compiled, args: tuple[Any, ...], count: int) -> int:
    sizes: dict[int, Any] = {}
    for a in args:
        type_of(a, sizes)
    known = {length.symbol: n for n, length in sizes.items()}
    types = (t for program, _ in compiled.context.emitted for t in program.types.of_name.values())  # type: ignore[attr-defined]
    return max((_bytes(t, known, count) for t in types), default=0) // count


def _shapes(value: Any) -> Iterator[Any]:
    """The shapes of arrays in tuples, and how long lists are."""
    for a in value:
        if type(a) is tuple:
            yield from _shapes(a)
        else:
            yield np.shape(a) if isinstance(a, np.ndarray) else len(a) if isinstance(a, (list, dict)) else None


def _bytes(t: Type, sizes: dict[str, int], count: int) -> int:
    """How many bytes an array has that has an axis of this length in front, 0 where that is not known."""
    shape = [actual(d, sizes) for d in t.shape] if isinstance(t, Array) else []
    if not isinstance(t, Array) or None in shape or shape[:1] != [count]:
        return 0
    return math.prod(shape) * np.dtype(t.dtype).itemsize  # type: ignore[arg-type]


def chunks(units: Units, code: Code | None, batch: int | None) -> list[int]:
    """Where the batches of directions begin, and the end: of as many as are asked for, or as keep the largest array of
    one within a cache; one after the other where there is no code for more.  They are of one length but for one."""
    most = units.count if batch is None else batch
    if code is None or not code.is_batched or units.count < FEWEST and batch is None:
        most = 1
    elif batch is None:
        largest = max((leaf.nbytes for leaf in units.held if isinstance(leaf, np.ndarray)), default=8)
        most = min(most, max(1, MOST_BYTES // max(largest, 1)))
        width = code.width(units.many(0, most), most) if most > 1 else None
        most = max(1, min(most, MOST_BYTES // max(width, 1))) if width is not None else 1
    count = -(-units.count // most)
    return [units.count * k // count for k in range(count + 1)] if count else [0]


def images(
    units: Units, run: Callable[[Any], list[Any]], code: Code | None, taken: Callable[[Any], list[Any]],
    factor: complex, batch: int | None,
) -> Iterator[Images]:  # fmt: skip
    """What is found along all units: by the code, of whose results ``taken`` gives the leaves, or by ``run``, which
    gives them along one."""
    for first, end in pairwise(chunks(units, code, batch)):
        found = None
        if code is not None and end - first > 1:
            found = _at_once(units, first, end, code, taken, factor)
        if code is not None and (texts := TEXTS.get()) is not None:
            texts += [text for text in code.texts(found is not None) if text not in texts]
        if found is not None:
            yield from found
            continue
        for row in range(first, end):
            yield _one_image(units, row, run, factor)


def _at_once(
    units: Units, first: int, end: int, code: Code, taken: Callable[[Any], list[Any]], factor: complex
) -> list[Images] | None:  # fmt: skip
    """What is found along some units as one batch, if that can be."""
    seeds = units.many(first, end)
    spans = [*units.spans(first, end)]
    found, other = code.along(seeds), None
    if found is not None and any(np.iscomplexobj(units.held[k]) for k, *_ in spans):
        other = code.along(turned(seeds, factor))
        found = found if other is not None else None
    if found is None:
        return None
    ahead, aside = ([*map(np.asarray, taken(side))] if side is not None else [] for side in (found, other))
    if any(np.shape(leaf)[:1] != (end - first,) for leaf in (*ahead, *aside)):
        return None
    return [
        Images(
            k, entries, [leaf[rows] for leaf in ahead],
            [leaf[rows] for leaf in aside] if np.iscomplexobj(units.held[k]) else None,
        )
        for k, entries, rows in spans
    ]  # fmt: skip


def _one_image(units: Units, row: int, run: Callable[[Any], list[Any]], factor: complex) -> Images:
    ((k, entries, _),) = units.spans(row, row + 1)
    unit = units.one(row)
    found = _in_front(run(unit))
    return Images(k, entries, found, _in_front(run(turned(unit, factor))) if np.iscomplexobj(units.held[k]) else None)


def _in_front(found: list[Any]) -> list[Any]:
    """Leaves with an axis of one in front; that of what is not read is None, and zero."""
    return [np.asarray(0.0 if leaf is None else leaf)[None] for leaf in found]


def texts_of(run: Callable[[], Any]) -> str:
    """The texts of the code that is run for directions meanwhile."""
    token = TEXTS.set(texts := list[str]())
    try:
        run()
    finally:
        TEXTS.reset(token)
    return "\n\n".join(texts)


def checked_batch(batch: int | None) -> int | None:
    """How many directions are to be one batch.  Raises `BadArgument` for what is no number of them."""
    if batch is None or type(batch) is int and batch > 0:
        return batch
    raise BadArgument(
        f"batch={batch!r} is no number of directions", why="so many rows or columns are computed at once",
        way_out="give an int from 1 on, or leave it out",
    )  # fmt: skip


def turned(value: Any, factor: complex) -> Any:
    """A value whose complex parts are multiplied by a factor."""
    return leafwise(lambda part: factor * part if np.iscomplexobj(part) else part, value)


def leafwise(function: Callable[..., Any], *alike: Any) -> Any:
    """What a function gives of the leaves of values of one structure."""
    t = type_of(alike[0])
    each = zip(*(leaves(t, value, True) for value in alike), strict=True)
    return formed(t, lambda: function(*next(each)), inside=True)


def dtype_of(x: Any) -> Any:
    return x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype


def _zero(leaf: Any) -> Any:
    return np.zeros_like(leaf) if is_array(leaf) else type(leaf)(0.0)


def _is_of_arrays(t: Type) -> bool:
    """Whether a value consists of numbers and of NumPy's own arrays, in containers."""
    if is_container(t):
        return not isinstance(t, Struct) and all(map(_is_of_arrays, t.items))  # type: ignore[union-attr]
    return not is_array_of_a_class(t)
